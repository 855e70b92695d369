import { describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { embeddingUseCases } from '#gateway/apis/embeddings/embedding-use-cases.ts'
import type { EmbeddingCall, EmbeddingOutcome } from '#gateway/embeddings/embedding-calls.ts'
import { projectScope } from '#storage/scope.ts'

const secretKey: Principal = { kind: 'secret_key', project: 'prj_1', keyId: 'key_1' }
const outcome: EmbeddingOutcome = {
  model: 'm',
  vectors: [[0.5], [1]],
  usage: { inputTokens: 3, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 },
  costUsd: null,
  bytes: Buffer.from('{"as":"it came"}'),
  headers: [['x-provider', 'openai']],
}

/** The use-case over calls that return `outcome`, and the calls that it made. */
const open = (answer = outcome) => {
  const calls: EmbeddingCall[] = []
  const useCases = embeddingUseCases({
    create: async (call) => {
      calls.push(call)
      return answer
    },
  })
  const create = (principal: Principal, keyed = false) =>
    useCases['embeddings.create']({
      ...{ principal, scope: projectScope('prj_1'), params: {}, query: {}, body: { model: 'm', input: ['a', 'b'] } },
      ...{ requestId: 'req_1', remoteAddress: '', after: null, accept: '', files: [] },
      ...{ bytes: Buffer.from('{}'), signal: new AbortController().signal },
      idempotency: keyed ? { cause: 'k', fingerprint: 'f', seed: null } : null,
    })
  return { calls, create }
}

describe('embeddings', () => {
  it('are returned as the bytes of the provider', async () => {
    const { calls, create } = open()
    expect(await create(secretKey)).toEqual({
      bytes: { contentType: 'application/json; charset=utf-8', bytes: outcome.bytes, headers: outcome.headers },
    })
    expect(calls).toMatchObject([{ operation: 'embeddings.create', caller: { keyId: 'key_1' }, body: { model: 'm' } }])
  })

  it('are returned as a JSON document for an idempotent request and for an outcome without bytes', async () => {
    const document = {
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [0.5] },
        { object: 'embedding', index: 1, embedding: [1] },
      ],
      model: 'm',
      usage: { prompt_tokens: 3, total_tokens: 3 },
    }
    const expected = { json: document, headers: outcome.headers }
    expect(await open().create(secretKey, true)).toEqual(expected)
    expect(await open({ ...outcome, bytes: null }).create(secretKey)).toEqual(expected)
  })
})
