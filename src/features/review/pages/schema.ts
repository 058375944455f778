import { Type } from '@sinclair/typebox';

export const TokenParams = Type.Object({
  token: Type.String({ description: 'Token of the link: the end of its URL.' }),
});

const text = (description: string) => Type.Optional(Type.String({ description }));

export const PageQuery = Type.Object({
  c: text('Id of the completion to show; absent: the first that was not reviewed yet.'),
  all: text('`1` shows long texts in full.'),
  done: text('`1` shows what was given.'),
  rename: text('`1` asks for the name again.'),
});
