import { afterAll, beforeAll, expect, it } from 'vitest'
import type { GatewayCall } from '#gateway/call/accounting/call-ledger.ts'
import type { Route } from '#gateway/call/routes.ts'
import type { JsonCallKind } from '#gateway/documents/json-calls.ts'
import { openDocuments } from '#gateway/documents/open-documents.ts'
import { policyBy } from '#gateway/redaction/redaction-policy.ts'
import { openUpstream, type Upstream } from '../call/scripted-upstream.ts'
import { callerOf } from '../ledger/calls.ts'

const recorded: GatewayCall[] = []
const settled: (string | null)[] = []
let upstream: Upstream
let documents: ReturnType<typeof openDocuments>

beforeAll(async () => {
  upstream = await openUpstream()
  const route: Route = {
    ...{ model: 'reranker', provider: 'custom:cpr_1', format: 'openai', baseUrl: `${upstream.url}/v1`, apiKey: null },
    ...{ source: 'managed', connectionId: null },
  }
  const policy = policyBy({ types: ['email'], input: true, toolArguments: true, restore: true, region: 'US' })
  documents = openDocuments({
    routes: { resolve: () => [route] },
    admission: { admit: () => ({ headers: [], settle: (usd) => void settled.push(usd) }) },
    redaction: { policyOf: () => policy },
    ledger: { record: (call) => void recorded.push(call) },
    guard: {
      get dispatcher(): never {
        throw new Error('no guard here')
      },
      check: (url) => new URL(url),
    },
    now: () => 1_700_000_000_000,
  })
})
afterAll(async () => {
  await documents.close()
  await upstream.close()
})

it('a call whose answer cannot be read ends: it is recorded, and nothing stays held for it', async () => {
  const deep = `{"results":${'['.repeat(30_000)}${']'.repeat(30_000)}}`
  upstream.script((response) => response.writeHead(200, { 'content-type': 'application/json' }).end(deep))
  const kind: JsonCallKind = {
    ...{ operation: 'rerank.create', need: 'chat', target: () => ({ path: '/rerank', headers: {} }) },
    ...{ max: () => ({}), usage: () => ({}), costUsd: () => '0.5' },
  }
  const body = { model: 'reranker', query: 'Write to ada@example.com' }
  const made = documents.calls.create(kind, { caller: callerOf(), body, signal: new AbortController().signal })
  await expect(made).rejects.toThrow(RangeError)
  expect(settled).toEqual(['0.5'])
  expect(recorded).toMatchObject([{ error: 'internal_error', costUsd: '0.5' }])
})
