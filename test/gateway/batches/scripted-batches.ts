import type { FileService } from '#actors/capability/file-service.ts'
import { batchEffects } from '#gateway/batches/batch-effects.ts'
import { CancelledBatches } from '#gateway/batches/cancelled-batches.ts'
import type { EffectCatalog } from '#runtime/index.ts'
import type { EraseParts } from '#runtime/internal.ts'

const line = (custom_id: string, answer: string) =>
  JSON.stringify({ custom_id, method: 'POST', url: '/v1/chat/completions', body: { answer } })

/** Files by their id: two requests each, which are answered, never answered, or invalid. */
const files: FileService = {
  find: async (_scope, id) => {
    if (id.startsWith('file_')) return null
    return {
      purpose: 'batch',
      tenant: null,
      content: async function* () {
        yield Buffer.from(id === 'invalid' ? 'nonsense' : [line('a', id), line('b', id)].join('\n'))
      },
    }
  },
  keep: async () => {},
  make: async ({ content }) => {
    for await (const _ of content);
  },
  remove: async () => {},
}

/** Effects of batches whose requests are answered at once, or never. */
export const scriptedBatches = (parts: EraseParts): EffectCatalog =>
  batchEffects({
    ...parts,
    files: () => files,
    cancelled: new CancelledBatches(undefined),
    call: ({ body }, signal) =>
      JSON.stringify(body).includes('answered')
        ? Promise.resolve('{}')
        : new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('ended')))),
  })
