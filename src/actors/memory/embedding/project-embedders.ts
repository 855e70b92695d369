import { randomUUID } from 'node:crypto'
import { defaultEmbedderPort, localEmbedderPort } from '#actors/capability/embedder-port.ts'
import type { Services } from '#actors/capability/services.ts'
import { gatewayPort } from '#gateway/gateway.ts'
import { narrowedScope, projectScope } from '#storage/index.ts'
import type { MemorySettings } from '../memory-settings.ts'
import { type EmbedderOf, freeEmbedder, type MemoryEmbedder } from './embedders.ts'

/** Returns the embedder that a project's settings name, or that of the installation when they name none. */
export const projectEmbedders = (
  services: Services,
  settings: (project: string) => Promise<MemorySettings>,
): EmbedderOf => {
  const local = localEmbedderPort.of(services)
  const free = local === null || local.id === 'none' ? null : freeEmbedder(local)
  const byDefault = defaultEmbedderPort.of(services)
  const made = new Map<string, MemoryEmbedder>()
  return async (project) => {
    const embedder = (await settings(project)).embedder ?? byDefault
    if (embedder === null || embedder === 'local') return local?.isOff ? null : free
    if (embedder === 'none') return null
    const known = made.get(embedder) ?? gatewayEmbedder(services, embedder)
    made.set(embedder, known)
    return known
  }
}

/** An embedding model of the gateway, with the limits, budgets, redaction and usage of every model call. */
const gatewayEmbedder = (services: Services, model: string): MemoryEmbedder => ({
  id: `model/${model}`,
  embed: async (texts, _kind, owner) => {
    const { project, tenant, user } = owner
    const scope = narrowedScope(projectScope(project), { tenant, user })
    const { vectors, costUsd, ...answer } = await gatewayPort.of(services).embeddings.create({
      caller: {
        ...{
          principal: { kind: 'secret_key', project, keyId: 'memory' },
          scope,
          requestId: randomUUID(),
          project,
          tenant,
        },
        ...{ externalUserId: user, keyId: null, agentId: null, models: null },
      },
      operation: 'embeddings.create',
      body: { model, input: [...texts], encoding_format: 'float' },
      bytes: null,
      signal: AbortSignal.timeout(embeddingMs),
    })
    const provider = answer.headers.find(([name]) => name.toLowerCase() === 'x-provider')?.[1] ?? null
    return { vectors: vectors.map(normalised), costUsd: Number(costUsd ?? 0), model: answer.model, provider }
  },
})

const embeddingMs = 30_000

const normalised = (vector: string | readonly number[]): Float32Array => {
  if (typeof vector === 'string') return new Float32Array(0)
  // a sum, since a server may answer with more numbers than a call can have arguments
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return Float32Array.from(vector, (value) => (length === 0 ? 0 : value / length))
}
