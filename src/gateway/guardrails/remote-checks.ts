import { boundedBody } from '#outgoing/bounded-body.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { webhookHeaders } from '#outgoing/webhook-signature.ts'
import { arrayOf, objectOf, parseJson, type WireObject } from '#outgoing/wire.ts'
import type { JsonObject } from '#specs/dsl/json.ts'
import type { ActorCaller, Caller } from '../call/caller.ts'
import { type Complete, judged, writtenBy } from '../call/guarding/model-verdict.ts'
import type { ActiveRemote, GuardStage } from './guard-set.ts'
import { schemaFaults } from './worker/checks-in-worker.ts'

/** Longest description of the faults of an answer, which its model gets. */
const maxFaultChars = 1_000

/** Dependencies of remote checks. */
export interface RemoteParts {
  readonly guard: Pick<SsrfGuard, 'request'>
  /** The project's signing secrets; null for an unknown project. */
  readonly signingSecrets: (project: string) => Promise<readonly string[] | null>
  /** Makes a model call without guardrails. */
  readonly complete: Complete
  /** ms since the epoch. */
  readonly now: () => number
  readonly newId: () => string
}

/** What another model or server says about texts. */
export interface RemoteVerdict {
  readonly flagged: boolean
  /** Whether it failed, took too long, or gave no verdict. */
  readonly failed: boolean
  /** The texts in place of those that it was sent; null for none. */
  readonly texts: readonly string[] | null
}

type AnyCaller = Caller | ActorCaller
type RemoteSpec = Exclude<ActiveRemote['spec'], { readonly type: 'json_schema' }>

interface Judged {
  readonly on: GuardStage
  readonly texts: readonly string[]
  readonly caller: AnyCaller
}

/** Most characters that are sent to be judged; more cannot be, which is a failure of the check. */
const maxChars = 200_000
const maxHookBytes = 512 * 1024
/** Time in which an answer is repaired. */
const repairMs = 60_000

const passes: RemoteVerdict = { flagged: false, failed: false, texts: null }
const failure: RemoteVerdict = { flagged: false, failed: true, texts: null }

/** Checks by models and servers. */
export class RemoteChecks {
  readonly #parts: RemoteParts

  constructor(parts: RemoteParts) {
    this.#parts = parts
  }

  /** Never throws. */
  async judge(spec: ActiveRemote['spec'], judged: Judged): Promise<RemoteVerdict> {
    if (spec.type === 'json_schema' || judged.texts.every((text) => text === '')) return passes
    if (judged.texts.reduce((sum, { length }) => sum + length, 0) > maxChars) return failure
    try {
      const signal = AbortSignal.timeout(spec.timeout_ms ?? 10_000)
      return await (spec.type === 'model' ? this.#model(spec, judged, signal) : this.#hook(spec, judged, signal))
    } catch {
      return failure
    }
  }

  /** Returns what is wrong with an answer by a JSON Schema; null for nothing. */
  async errorsBy(schema: JsonObject, written: string, { project }: AnyCaller): Promise<string | null> {
    if (parseJson(written) === undefined) return 'The answer is not JSON.'
    const found = await schemaFaults(schema, written, project).catch(() => null)
    if (found === null) return 'The answer could not be checked.'
    const faults = found.map(([place, fault]) => `answer${place} ${fault}`).join(', ')
    return faults === '' ? null : faults.slice(0, maxFaultChars)
  }

  /** Requests a better answer, once. Returns null if it is none. */
  async repaired(
    schema: JsonObject,
    { body, written, wrong, caller }: { body: WireObject; written: string; wrong: string; caller: AnyCaller },
  ): Promise<string | null> {
    const { stream: _stream, stream_options: _options, n: _n, tools: _tools, tool_choice: _choice, ...rest } = body
    const correction = `Your answer does not match the required JSON Schema: ${wrong}\nThe schema: ${JSON.stringify(schema)}\nAnswer again, with the JSON only.`
    const messages = [
      ...arrayOf(body.messages),
      { role: 'assistant', content: written.slice(0, maxChars) },
      { role: 'user', content: correction },
    ]
    try {
      const call = { operation: 'guardrails.repair', caller, signal: AbortSignal.timeout(repairMs) }
      const text = await writtenBy(this.#parts.complete, call, { ...rest, messages })
      return (await this.errorsBy(schema, text, caller)) === null ? text : null
    } catch {
      return null
    }
  }

  async #model(
    { model, instructions }: Extract<RemoteSpec, { type: 'model' }>,
    { texts, caller }: Judged,
    signal: AbortSignal,
  ): Promise<RemoteVerdict> {
    const call = { operation: 'guardrails.judge', caller, signal }
    const flagged = await judged(this.#parts.complete, call, { model, instructions, texts, field: 'violates' })
    return flagged === null ? failure : { ...passes, flagged }
  }

  async #hook(
    { url }: Extract<RemoteSpec, { type: 'http' }>,
    { on, texts, caller }: Judged,
    signal: AbortSignal,
  ): Promise<RemoteVerdict> {
    const { project, tenant, externalUserId, agentId } = caller
    const secrets = await this.#parts.signingSecrets(project)
    if (secrets === null) return failure
    const body = JSON.stringify({ on, texts, tenant_id: tenant, external_user_id: externalUserId, agent_id: agentId })
    const signed = { id: this.#parts.newId(), timestampS: Math.floor(this.#parts.now() / 1000), body }
    const answer = await this.#parts.guard.request(url, {
      ...{ kind: 'guardrail', method: 'POST', body, signal, maxRedirects: 0 },
      headers: { 'content-type': 'application/json', accept: 'application/json', ...webhookHeaders(secrets, signed) },
    })
    const { bytes } = await boundedBody(answer.body, { maxBytes: maxHookBytes, partial: false })
    const { flagged, texts: made } = objectOf(parseJson(bytes.toString('utf8')))
    if (answer.statusCode < 200 || answer.statusCode > 299 || typeof flagged !== 'boolean') return failure
    const isWhole =
      Array.isArray(made) && made.length === texts.length && made.every((each) => typeof each === 'string')
    return { flagged, failed: false, texts: isWhole ? made.map(String) : null }
  }
}
