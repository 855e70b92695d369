import { settingsOf } from '#actors/memory/memory-settings.ts'
import { type MemoryParts, openMemory } from '#actors/memory/open-memory.ts'
import { IndexBound } from '#retrieval/index.ts'
import { LocalAnswers } from '#storage/local-answers.ts'

/** Memory without an embedder, a cap or a policy, except for the given parts. */
export const plainMemory = (
  parts: Pick<MemoryParts, 'records' | 'storage' | 'host' | 'clock' | 'log'> & Partial<MemoryParts>,
) =>
  openMemory({
    now: parts.clock.now,
    answers: new LocalAnswers(parts.clock),
    bound: new IndexBound(),
    embedderOf: async () => null,
    settings: async () => settingsOf(),
    redact: async (_project, contents) => contents.map((content) => ({ content, redacted: [] })),
    judge: async () => new Set(),
    upgradeUrl: '/#settings',
    isOurs: () => true,
    ...parts,
  })
