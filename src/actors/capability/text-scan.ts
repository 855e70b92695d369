import type { ParseOwner } from '#src/parsing/parse-owner.ts'
import type { SkillFinding } from '#src/skill-scan/index.ts'
import { Port } from './port.ts'

/** A text that models will read, by its fields. */
export type ScannedText = { readonly fields: readonly { readonly path: string; readonly text: string }[] }

/** A finding in a text; `path` is the field. */
export type TextFinding = SkillFinding

/** Scans texts with the rules for skills, in a worker; findings are in the order of the texts. */
export type TextScan = (
  texts: readonly ScannedText[],
  owner?: ParseOwner,
) => Promise<readonly (readonly TextFinding[])[]>

/** Port for the scan of texts that other parties wrote. */
export const textScan = new Port<TextScan>('the scan of texts')
