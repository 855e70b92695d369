import type { Embedder } from '#retrieval/embedder.ts'
import { Port } from './port.ts'

/** The embedder of this machine; null: none was given. */
export const localEmbedderPort = new Port<Embedder | null>('the local embedder')
