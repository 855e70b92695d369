import type { SsrfGuard } from '../../outgoing/ssrf-guard.ts'
import { type VoiceParts, type VoiceUseCases, voiceUseCases } from '../apis/voice/voice-use-cases.ts'
import { defaultCallPolicy } from '../call/call-policy.ts'
import { Upstreams } from '../call/upstreams.ts'

/** Speech and transcription, put together. */
export interface Voice {
  readonly useCases: VoiceUseCases
  /** Ends all connections; calls in flight fail. */
  close(): Promise<void>
}

/** Opens connections as they are needed: nothing is sent before the first call. */
export const openVoice = ({
  guard,
  ...parts
}: Omit<VoiceParts, 'upstreams'> & { readonly guard: Pick<SsrfGuard, 'dispatcher' | 'check'> }): Voice => {
  const upstreams = new Upstreams(guard, { ...defaultCallPolicy, ...parts.policy })
  return { useCases: voiceUseCases({ ...parts, upstreams }), close: () => upstreams.close() }
}
