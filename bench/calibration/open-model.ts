import { openLocalEmbedder } from '#retrieval/embedder.ts'
import { LocalEmbedder } from '#retrieval/embedding/local-embedder.ts'
import { packagedModel } from '#retrieval/embedding/packaged-embedder.ts'

/** Opens the model in a folder, or the `packaged` one, on one thread. */
export const openModel = (name: string): Promise<LocalEmbedder> =>
  name === 'packaged' ? LocalEmbedder.open({ ...packagedModel, threads: 1 }) : openLocalEmbedder(name)
