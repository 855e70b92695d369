import type { Json } from '#storage/ports.ts'
import { type ScannedSkill, scannedSkill } from './scanned-skill.ts'
import { type ArchivedFile, archivedFiles } from './skill-archive.ts'

/** Tasks of the scanner's worker: opening archives and scanning files. */
export const scannerTasks = {
  open: async (bytes: Uint8Array): Promise<Json & readonly ArchivedFile[]> => await archivedFiles(bytes),
  scan: async (files: readonly ArchivedFile[]): Promise<ScannedSkill> => await scannedSkill(files),
} as const
