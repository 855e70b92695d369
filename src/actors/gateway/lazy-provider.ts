import type { EmbeddingAnswer, EmbeddingRequest, ModelAnswer, ModelProvider, ModelRequest } from './provider-port.ts'

/** A provider that holds connections. */
export interface ClosableProvider extends ModelProvider {
  close(): Promise<void>
}

/** A provider whose SDK (some 30 MB of memory each) is loaded by its first call. */
export class LazyProvider implements ClosableProvider {
  readonly id: string
  readonly #load: () => Promise<ClosableProvider>
  #loaded: Promise<ClosableProvider> | undefined

  constructor(id: string, load: () => Promise<ClosableProvider>) {
    this.id = id
    this.#load = load
  }

  async stream(request: ModelRequest, onDelta: (text: string) => void, signal: AbortSignal): Promise<ModelAnswer> {
    return (await this.#provider()).stream(request, onDelta, signal)
  }

  async embed(request: EmbeddingRequest, signal: AbortSignal): Promise<EmbeddingAnswer> {
    return (await this.#provider()).embed(request, signal)
  }

  async close(): Promise<void> {
    await (await this.#loaded)?.close()
  }

  #provider(): Promise<ClosableProvider> {
    this.#loaded ??= this.#load()
    return this.#loaded
  }
}
