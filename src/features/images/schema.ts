import { Type, type Static } from '@sinclair/typebox';

export const Attachment = Type.Object(
  {
    type: Type.String({
      description:
        'Type of the image as sent, such as `screenshot`; `image` if none was sent. Of other media of Langfuse clients: `audio` or `file`.',
    }),
    media_type: Type.Optional(
      Type.String({ description: 'Media type, of what the server keeps of clients of Langfuse.' }),
    ),
    url: Type.String({
      description: 'URL of the image: a presigned one that works for one hour, or the URL that was sent.',
    }),
    label: Type.Union([Type.String(), Type.Null()], { description: 'Label as sent.' }),
    width: Type.Optional(Type.Number({ description: 'Width in pixels, as sent.' })),
    height: Type.Optional(Type.Number({ description: 'Height in pixels, as sent.' })),
    viewport: Type.Optional(
      Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown())], {
        description: 'Viewport of a screenshot, as sent, such as `desktop`.',
      }),
    ),
  },
  { $id: 'Attachment', description: 'An image of a span.' },
);
export type Attachment = Static<typeof Attachment>;

export const AttachmentList = Type.Object(
  {
    attachments: Type.Array(Attachment, { description: 'The images, in their order in the span.' }),
    count: Type.Integer({ description: 'Number of images.' }),
  },
  { $id: 'AttachmentList', description: 'The images of a span.' },
);
export type AttachmentList = Static<typeof AttachmentList>;
