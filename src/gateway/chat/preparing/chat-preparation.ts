import { ChatCache } from '#gateway/caching/chat-cache.ts'
import type { CallEnd } from '#gateway/call/accounting/call-record.ts'
import type { CallRun } from '#gateway/call/call-run.ts'
import { isRequest } from '#gateway/call/caller.ts'
import type { Candidate } from '#gateway/call/candidates.ts'
import type { Found, RedactionPolicy } from '#gateway/call/redaction.ts'
import type { CachePolicy, Reuse } from '#gateway/call/reuse.ts'
import type { GuardCall } from '#gateway/guardrails/guard-call.ts'
import { type RedactedChat, redactChat } from '#gateway/redaction/chat-redaction.ts'
import type { ChatRestorer } from '#gateway/redaction/chat-restorer.ts'
import { replacedBytes } from '#gateway/redaction/replaced-bytes.ts'
import type { ChatParts, ChatRunRequest } from '../chat-run-request.ts'

/**
 * What happens to a request before a route is looked for: guardrails check it, personal data is replaced, and a stored answer
 * is looked up. Where all of it is in memory, no promise is awaited.
 */
export class ChatPreparation {
  /** The request as it is sent. */
  input: ChatRunRequest
  guard: GuardCall | null = null
  restorer: ChatRestorer | null = null
  redactions: Found | undefined
  reuse: Reuse | null = null
  cache: ChatCache | null = null
  readonly #parts: ChatParts
  readonly #run: Pick<CallRun<Candidate>, 'after'>
  /** The model that a rule names in place of the requested one; null for none. */
  #served: string | null = null

  constructor(parts: ChatParts, run: Pick<CallRun<Candidate>, 'after'>, input: ChatRunRequest) {
    this.#parts = parts
    this.#run = run
    this.input = input
  }

  /** What was found in the texts of the call so far. */
  get findings(): Pick<CallEnd, 'redactions' | 'guardrails'> {
    return { redactions: this.redactions, guardrails: this.guard?.report.findings }
  }

  /**
   * @param served the model that a rule names in place of the requested one; null for none.
   * @param go is called when the request can be sent.
   */
  start(served: string | null, go: () => void): void {
    this.#served = served
    const { guardrails } = this.#parts
    if (guardrails === undefined || this.input.unguarded === true) this.#prepare(go)
    else
      this.#run.after(
        () => guardrails.open(this.input.caller),
        (guard) => this.#guarded(guard, go),
      )
  }

  /** Checks the request, before anything of it is replaced. */
  #guarded(guard: GuardCall | null, go: () => void): void {
    this.guard = guard
    const { caller } = this.input
    if (guard !== null && !isRequest(caller)) caller.onGuarded?.(guard.report)
    if (guard === null) this.#prepare(go)
    else
      this.#run.after(
        () => guard.input(this.input.body),
        (body) => {
          if (body !== this.input.body) this.#replace(body, null)
          this.#prepare(go)
        },
      )
  }

  #prepare(go: () => void): void {
    const { cache, redaction } = this.#parts
    const { caller, reuse } = this.input
    if (cache === undefined || !isRequest(caller) || reuse === 'never')
      this.#run.after(
        () => redaction.policyOf(caller.project),
        (policy) => this.#redactBy(policy, null, go),
      )
    else
      this.#run.after(
        () => cache.policiesOf(caller.project),
        ({ redaction: policy, cache: stored }) => this.#redactBy(policy, stored, go),
      )
  }

  #redactBy(policy: RedactionPolicy | null, stored: CachePolicy | null, go: () => void): void {
    if (policy === null) this.#find(stored, go)
    else
      this.#run.after(
        () => redactChat(this.input.body, policy, this.input.history),
        (redacted) => {
          this.#redact(redacted)
          this.#find(stored, go)
        },
      )
  }

  /** Looks for a stored answer, unless the project stores none. */
  #find(policy: CachePolicy | null, go: () => void): void {
    const { caller, reuse, stream } = this.input
    const body = this.#served === null ? this.input.body : { ...this.input.body, model: this.#served }
    const { cache } = this.#parts
    if (policy === null || cache === undefined || !isRequest(caller)) {
      go()
      return
    }
    const user = reuse === undefined || reuse === 'never' ? null : reuse.user
    this.#run.after(
      () => cache.open(policy, { kind: 'chat', caller, body, user }),
      (found) => {
        this.reuse = found
        this.cache = new ChatCache(found, stream)
        go()
      },
    )
  }

  #redact({ body, restorer, found, replacements }: RedactedChat): void {
    this.redactions = found
    const { body: before, bytes: written } = this.input
    if (body === before) return
    this.restorer = restorer
    this.#replace(body, written === null || replacements === undefined ? null : replacedBytes(written, replacements))
  }

  /** A history has the messages as they were, so it is not used any more. */
  #replace(body: ChatRunRequest['body'], bytes: Uint8Array | null): void {
    this.input = { ...this.input, body, bytes, history: undefined, encoded: undefined }
  }
}
