import { pino } from 'pino'
import type { GatewayCall } from '#gateway/call/accounting/call-ledger.ts'
import type { Caller } from '#gateway/call/caller.ts'
import type { Route } from '#gateway/call/routes.ts'
import { ledgerKinds } from '#gateway/ledger/kinds.ts'
import { LogSettings } from '#gateway/ledger/log-settings.ts'
import { RequestLedger } from '#gateway/ledger/request-ledger.ts'
import { usageRows } from '#gateway/ledger/usage-rows.ts'
import type { Clock } from '#runtime/clock.ts'
import type { Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'

export const project = 'prj_00000000000000000000000001'

export const callerOf = (more: Partial<Caller> = {}): Caller => ({
  principal: { kind: 'secret_key', project, keyId: 'key_1' },
  scope: projectScope(more.project ?? project),
  requestId: 'request-1',
  project,
  tenant: null,
  models: null,
  externalUserId: null,
  keyId: 'key_1',
  agentId: null,
  ...more,
})

export const managedRoute: Route = {
  model: 'gpt-4o-mini',
  provider: 'openai',
  format: 'openai',
  baseUrl: 'http://127.0.0.1:9/v1',
  apiKey: 'sk-upstream-secret',
  source: 'managed',
  connectionId: null,
}

/** A successful chat call. */
export const callOf = (more: Partial<GatewayCall> = {}): GatewayCall => ({
  caller: callerOf(),
  operation: 'chat_completions.create',
  need: 'chat',
  requestedModel: 'gpt-4o-mini',
  route: managedRoute,
  units: { tokens: { inputTokens: 10, outputTokens: 5, cachedTokens: 2, reasoningTokens: 1 } },
  costUsd: '0.0000045',
  status: 200,
  error: null,
  streamed: false,
  startedAt: Date.UTC(2026, 0, 1) - 20,
  firstByteMs: 12.34,
  durationMs: 20,
  attempts: 1,
  bodies: () => ({ request: '{"messages":[]}', response: '{"choices":[]}' }),
  ...more,
})

/** The ledger of a store; it masks the word `secret` in texts. */
export const openLedger = async (
  storage: Storage,
  clock: Clock,
  beforeWrite: () => Promise<void> | undefined = () => undefined,
) => {
  await storage.records.prepare([...ledgerKinds, usageRows])
  const ledger = new RequestLedger({
    records: storage.records,
    syncBlocks: storage.name === 'sqlite',
    clock,
    log: pino({ level: 'silent' }),
  })
  const settings = new LogSettings(storage.records, clock.now)
  const redaction = { forLog: (text: string) => text.replaceAll('secret', '[SECRET]') }
  ledger.start({ settings, redaction, beforeWrite })
  return { ledger, settings }
}
