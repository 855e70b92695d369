import { afterAll, beforeAll, expect, it } from 'vitest'
import { passthroughUseCases } from '#gateway/apis/passed-on/passed-on-use-cases.ts'
import type { GatewayCall } from '#gateway/call/accounting/call-ledger.ts'
import type { Route } from '#gateway/call/routes.ts'
import { openDocuments } from '#gateway/documents/open-documents.ts'
import { projectScope } from '#storage/scope.ts'
import { openUpstream, type Upstream } from '#test/gateway/call/scripted-upstream.ts'
import { callerOf, project } from '#test/gateway/ledger/calls.ts'
import { noGuard } from '#test/gateway/no-guard.ts'

const recorded: GatewayCall[] = []
let upstream: Upstream
let documents: ReturnType<typeof openDocuments>

beforeAll(async () => {
  upstream = await openUpstream()
  const route: Route = {
    ...{ model: 'own-1', provider: 'custom:cpr_1', format: 'openai', baseUrl: `${upstream.url}/v1`, apiKey: null },
    ...{ source: 'managed', connectionId: null, ownPrices: { input: '0.001', output: '0.01', call: '0.5' } },
  }
  documents = openDocuments({
    routes: { resolve: () => [route] },
    admission: { admit: () => ({ headers: [], settle: () => {} }) },
    redaction: { policyOf: () => null },
    ledger: { record: (call) => void recorded.push(call) },
    guard: noGuard,
    now: Date.now,
  })
})
afterAll(async () => {
  await documents.close()
  await upstream.close()
})

const answers = (answer: object): void =>
  upstream.script((response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer)),
  )
const call = <Body>(body: Body) => ({
  ...{ principal: callerOf().principal, scope: projectScope(project), params: {}, query: {}, body, files: [] },
  ...{ requestId: 'req_1', remoteAddress: '', idempotency: null, after: null, accept: '' },
  signal: new AbortController().signal,
})

it('completions and rankings cost what the project has set for its own model', async () => {
  const useCases = passthroughUseCases({ documents: documents.calls })
  answers({ choices: [{ text: 'Hi' }], usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 } })
  await useCases['completions.create'](call({ model: 'own-1', prompt: 'Say hi' }))
  answers({ results: [], usage: { total_tokens: 100 } })
  await useCases['rerank.create'](call({ model: 'own-1', query: 'q', documents: ['d'] }))
  expect(recorded.splice(0).map(({ costUsd }) => costUsd)).toEqual(['0.53', '0.6'])
})

it('completions and rankings without a report of their usage are charged by length, and moderations are free', async () => {
  const useCases = passthroughUseCases({ documents: documents.calls })
  answers({ choices: [{ text: 'Twelve chars' }], results: [] })
  await useCases['completions.create'](call({ model: 'own-1', prompt: 'Say twelve chars' }))
  await useCases['rerank.create'](call({ model: 'own-1', query: 'Twelve chars', documents: ['Twelve chars'] }))
  await useCases['moderations.create'](call({ model: 'own-1', input: 'Twelve chars' }))
  const [completion, ranking, moderation] = recorded.splice(0)
  for (const each of [completion, ranking]) {
    expect(each?.units?.tokens).toMatchObject({ estimated: true })
    expect(each?.units?.tokens?.inputTokens).toBeGreaterThan(3)
    expect(Number(each?.costUsd)).toBeGreaterThan(0.5)
  }
  expect(completion?.units?.tokens?.outputTokens).toBeGreaterThan(2)
  expect(moderation).toMatchObject({ costUsd: '0', units: { tokens: { inputTokens: 0, outputTokens: 0 } } })
})
