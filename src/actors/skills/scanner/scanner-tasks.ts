import type { Json } from '#storage/ports.ts'
import { type ScannedSkill, scannedSkill } from './scanned-skill.ts'
import { type ArchivedFile, archivedFiles } from './skill-archive.ts'

/** What the scanner's worker does: it opens archives and scans files. */
export const scannerTasks = {
  open: async (bytes: Uint8Array): Promise<Json & readonly ArchivedFile[]> => await archivedFiles(bytes),
  scan: async (files: readonly ArchivedFile[]): Promise<ScannedSkill> => await scannedSkill(files),
} as const
