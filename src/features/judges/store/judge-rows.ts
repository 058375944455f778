import type { Judge, JudgeSettings } from '../judge.js';
import { SETTING_NAMES, SETTINGS, settingsBy, type SettingName } from '../settings.js';

const standardOf = (name: SettingName): unknown => SETTINGS[name].standard;

/** Settings that SQLite has no type for: those stored as JSON, and those stored as 0 and 1. */
export const STORED_AS = {
  json: SETTING_NAMES.filter((name) => typeof standardOf(name) === 'object' && standardOf(name) !== null),
  flags: SETTING_NAMES.filter((name) => typeof standardOf(name) === 'boolean'),
};

/** The columns of a judge that change with it. */
export const CHANGED_COLUMNS = [...SETTING_NAMES, 'judged_since', 'updated_at'];
export const JUDGE_COLUMNS = ['id', 'project_id', ...CHANGED_COLUMNS, 'created_at', 'created_by', 'deleted_at'];

type Row<T> = { readonly [K in keyof T]: K extends SettingName ? string | number | null : T[K] };
export type JudgeRow = Row<Judge>;

/** A judge, or what is to change of one, as a row. */
export function toRow<T extends JudgeSettings>(judge: T): Row<T> {
  const settings = settingsBy((name) => {
    if (STORED_AS.json.includes(name)) return JSON.stringify(judge[name]);
    return STORED_AS.flags.includes(name) ? Number(judge[name]) : judge[name];
  });
  return { ...judge, ...settings } as unknown as Row<T>;
}

export function toJudge(row: JudgeRow): Judge {
  const settings = settingsBy((name) => {
    if (STORED_AS.json.includes(name)) return JSON.parse(String(row[name])) as unknown;
    return STORED_AS.flags.includes(name) ? row[name] === 1 : row[name];
  });
  return { ...row, ...settings };
}
