import type { Json } from '#storage/index.ts'
import type { TextFinding } from '../capability/text-scan.ts'
import type { ScannedSkill } from './scanner/scanned-skill.ts'
import type { ArchivedFile } from './scanner/skill-archive.ts'

/* The functions below return the responses of our own worker as the type that it returned. */

/** Returns the result of the worker's scan. */
export const scanned = (value: Json): ScannedSkill => value as ScannedSkill

/** Returns the files that the worker unpacked. */
export const archived = (value: Json): readonly ArchivedFile[] => value as readonly ArchivedFile[]

/** Returns the findings of the texts that the worker scanned. */
export const scannedTexts = (value: Json): readonly (readonly TextFinding[])[] =>
  value as readonly (readonly TextFinding[])[]
