import type { WireObject } from '#outgoing/wire.ts'
import type { ResponseCache } from '../caching/response-cache.ts'
import type { CallLedger } from '../call/accounting/call-ledger.ts'
import type { Charge } from '../call/accounting/charge.ts'
import type { AttemptTimeouts } from '../call/attempt.ts'
import type { CallRunParts } from '../call/call-run.ts'
import type { ActorCaller, Caller } from '../call/caller.ts'
import type { ChatCall, ChatSummary } from '../call/chat-calls.ts'
import type { Redaction } from '../call/redaction.ts'
import type { RouteCandidatesParts } from '../call/route-candidates.ts'
import type { Upstreams } from '../call/upstreams.ts'
import type { Guardrails } from '../guardrails/stored-guardrails.ts'
import type { AppendOnlyHistory } from '../redaction/append-only-history.ts'
import type { AnswerListener } from './answer-reader.ts'
import type { MediaParts } from './preparing/fetched-media.ts'
import type { ShadowCalls } from './rules/shadow-calls.ts'
import type { ChatInput } from './wire-body.ts'

/** Dependencies of {ChatRun}. */
export interface ChatParts extends RouteCandidatesParts, CallRunParts {
  readonly health: RouteCandidatesParts['health']
  readonly ledger: CallLedger
  readonly redaction: Redaction
  readonly upstreams: Upstreams
  readonly patience: AttemptTimeouts
  readonly shadows: ShadowCalls
  readonly media: MediaParts
  /** Checks of inputs and answers; absent: none. */
  readonly guardrails?: Guardrails | undefined
  /** Answers that are reused; absent: none. */
  readonly cache?: ResponseCache | undefined
}

/** One chat request, with the bytes of its body. */
export interface ChatRunRequest extends ChatInput {
  /** The ledger records only calls of requests; the usage of an actor is in the actor's own commit. */
  readonly caller: Caller | ActorCaller
  /** Operation id, for the log. */
  readonly operation: string
  readonly need: 'chat' | 'vision'
  /** Set when the request has no images, so that its messages are not searched for them. */
  readonly textOnly?: true
  readonly reuse?: ChatCall['reuse']
  readonly unguarded?: ChatCall['unguarded']
  readonly metadata?: ChatCall['metadata']
  readonly rules?: ChatCall['rules']
  readonly onCost?: ChatCall['onCost']
  /** The conversation of a caller that keeps it from one request to the next. */
  readonly history?: AppendOnlyHistory | undefined
}

/** A non-streamed answer. `bytes` is `completion` as received; null when it was created or changed by the gateway. */
export interface WholeAnswer extends ChatSummary {
  readonly completion: WireObject
  readonly bytes: Buffer | null
}

/** Receives the answer: `whole`; or `begin`, frames and chunks, and `end`; `fail` instead, or after `begin`. */
export interface RunListener extends AnswerListener {
  /** Whether the listener accepts frames as received; otherwise it gets chunks only. */
  readonly takesFrames: boolean
  begin(about: Pick<ChatSummary, 'route' | 'headers'>): void
  whole(answer: WholeAnswer): void
  end(summary: ChatSummary): void
  /** @param charge for the part that was passed on before the failure; null when nothing was. */
  fail(error: Error, charge: Charge | null): void
}
