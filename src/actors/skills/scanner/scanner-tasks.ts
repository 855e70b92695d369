import type { ScannedText, TextFinding } from '#actors/capability/text-scan.ts'
import type { Json } from '#storage/index.ts'
import { type ScannedSkill, scannedSkill, scannedTexts } from './scanned-skill.ts'
import { type ArchivedFile, archivedFiles } from './skill-archive.ts'

/** Tasks of the scanner's worker: opening archives and scanning files. */
export const scannerTasks = {
  open: async (bytes: Uint8Array): Promise<Json & readonly ArchivedFile[]> => await archivedFiles(bytes),
  scan: async (files: readonly ArchivedFile[]): Promise<ScannedSkill> => await scannedSkill(files),
  texts: async (texts: readonly ScannedText[]): Promise<Json & readonly (readonly TextFinding[])[]> =>
    scannedTexts(texts),
} as const
