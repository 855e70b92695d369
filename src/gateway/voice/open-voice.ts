import type { Services } from '#actors/capability/services.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import type { FanOut } from '#storage/index.ts'
import { type CallPolicy, defaultCallPolicy, type ModelTimeouts } from '../call/call-policy.ts'
import type { GatewayCore } from '../call/gateway-core.ts'
import { RouteHealth } from '../call/pools/route-health.ts'
import { Upstreams } from '../call/upstreams.ts'
import type { Guardrails } from '../guardrails/stored-guardrails.ts'
import { Latencies } from './latencies.ts'
import { SpeechCalls } from './speech-calls.ts'
import { TranscriptionCalls } from './transcription-calls.ts'
import { speechKind, transcriptionKind } from './voice-kinds.ts'
import { VoiceLimit } from './voice-limit.ts'
import { VoicePlanner } from './voice-planner.ts'

/** Dependencies and options of the voice module. */
export interface OpenVoiceParts extends GatewayCore, Pick<Services, 'limits' | 'now'> {
  readonly guard: Pick<SsrfGuard, 'dispatcher' | 'check'>
  /** Checks of the texts to speak; absent: none. */
  readonly guardrails?: Guardrails | undefined
  /** Shares measured latencies with other nodes; absent in a single-process deployment. */
  readonly fanOut?: Pick<FanOut, 'announce' | 'subscribe'> | undefined
  /** Timeouts for silent providers, where they differ from `defaultCallPolicy`; transcripts have a separate limit. */
  readonly waits?: Partial<ModelTimeouts>
  /** Overrides for tests. */
  readonly policy?: Partial<CallPolicy>
}

/** The voice module: speech and transcription. */
export interface Voice {
  readonly speech: Pick<SpeechCalls, 'speak'>
  readonly transcription: Pick<TranscriptionCalls, 'transcribe'>
  readonly limit: Pick<VoiceLimit, 'take'>
  /** Closes all connections; calls in flight fail. */
  close(): Promise<void>
}

/** Timeout of a whole transcript: 55 s (specs/decisions/0085-voice.md). */
const transcriptionTimeoutMs = 55_000

/** Voice models rarely have alternative routes, so every route gets the full number of retries. */
const voiceDefaults: CallPolicy = { ...defaultCallPolicy, retriesBesideOthers: Number.POSITIVE_INFINITY }

/** Creates the voice module. Connections are opened on demand: nothing is sent before the first call. */
export const openVoice = ({ guard, limits, fanOut, policy, waits = {}, ...parts }: OpenVoiceParts): Voice => {
  const upstreams = new Upstreams(guard, { ...defaultCallPolicy, ...policy }, { telemetry: parts.telemetry })
  const latencies = new Latencies(parts.now, fanOut)
  const shared = { ...parts, upstreams, latencies, health: new RouteHealth(parts.now) }
  const whole = { firstByteTimeoutMs: transcriptionTimeoutMs, totalTimeoutMs: transcriptionTimeoutMs }
  return {
    speech: new SpeechCalls({
      ...shared,
      planner: new VoicePlanner(speechKind, parts.routes, latencies),
      policy: { ...voiceDefaults, ...waits, ...policy },
    }),
    transcription: new TranscriptionCalls({
      ...shared,
      planner: new VoicePlanner(transcriptionKind, parts.routes, latencies),
      policy: { ...voiceDefaults, ...waits, ...whole, ...policy },
    }),
    limit: new VoiceLimit(limits),
    close: () => upstreams.close(),
  }
}
