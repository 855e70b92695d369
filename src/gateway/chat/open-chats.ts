import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { Ticker, tickMsFor } from '#runtime/internal.ts'
import { type CallPolicy, defaultCallPolicy } from '../call/call-policy.ts'
import { RouteHealth } from '../call/pools/route-health.ts'
import { keepAliveMs as defaultKeepAliveMs, type KeepAlive } from '../call/streaming/pushed-body.ts'
import { Upstreams } from '../call/upstreams.ts'
import { authorizeOf } from '../providers/provider-formats.ts'
import type { ChatParts } from './chat-run-request.ts'
import { Chats } from './chats.ts'

/** Dependencies of {openChats}. */
export interface OpenChatsParts
  extends Pick<
    ChatParts,
    'routes' | 'admission' | 'redaction' | 'ledger' | 'telemetry' | 'cache' | 'guardrails' | 'now'
  > {
  readonly guard: Pick<SsrfGuard, 'dispatcher' | 'check' | 'isPrivate' | 'content'>
  readonly policy?: Partial<CallPolicy>
  /** ms of silence after which a stream sends a keep-alive comment. */
  readonly keepAliveMs?: number
}

/** Chat with any model, and the keep-alive of its streams. */
export interface OpenChats {
  readonly chats: Chats
  readonly keepAlive: KeepAlive
}

/** Opens chat. No connection is opened before the first request. */
export const openChats = ({ guard, keepAliveMs = defaultKeepAliveMs, ...parts }: OpenChatsParts): OpenChats => {
  const policy = { ...defaultCallPolicy, ...parts.policy }
  const ticker = new Ticker(
    tickMsFor(Math.min(policy.firstByteTimeoutMs, policy.idleTimeoutMs, policy.totalTimeoutMs, keepAliveMs)),
  )
  const patience = { ...policy, ticker }
  const upstreams = new Upstreams(guard, policy, { telemetry: parts.telemetry, authorizeOf })
  const media = { guard, remote: { guard: guard.content } }
  const chats = new Chats({ ...parts, policy, patience, upstreams, media, health: new RouteHealth(parts.now) })
  return { chats, keepAlive: { ticker, ticks: ticker.ticks(keepAliveMs) } }
}
