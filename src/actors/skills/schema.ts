import type { Json } from '#storage/ports.ts'
import type { ScannedSkill } from './scanner/scanned-skill.ts'
import type { ArchivedFile } from './scanner/skill-archive.ts'

/* What our own worker answers comes back as the type that it gave. */

/** What the scanner's worker found. */
export const scanned = (value: Json): ScannedSkill => value as ScannedSkill

/** What the scanner's worker unpacked. */
export const archived = (value: Json): readonly ArchivedFile[] => value as readonly ArchivedFile[]
