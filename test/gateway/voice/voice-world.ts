import type { ByteSink, Principal, UploadedFile } from '#actors/call/call.ts'
import type { BytesResult } from '#actors/call/use-cases.ts'
import { voiceUseCases } from '#gateway/apis/voice/voice-use-cases.ts'
import type { GatewayCall } from '#gateway/call/accounting/call-ledger.ts'
import type { Admission } from '#gateway/call/admission.ts'
import type { CallPolicy } from '#gateway/call/call-policy.ts'
import type { KeyLimits } from '#gateway/call/pools/key-limits.ts'
import type { Redaction } from '#gateway/call/redaction.ts'
import type { KeySource, PoolPolicy, Route, Routes } from '#gateway/call/routes.ts'
import { openVoice } from '#gateway/voice/open-voice.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import type { StreamControl } from '#runtime/messages/event-stream.ts'
import { providers } from '#specs/data/providers.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import { LocalLimits } from '#storage/local-limits.ts'
import { projectScope } from '#storage/scope.ts'
import { noted } from '#test/support/called-operations.ts'
import { type AudioUpstream, openAudioUpstream } from './audio-upstream.ts'

/** The sources of available keys by provider, in the order in which they are tried. */
type Keys = Readonly<Record<string, readonly KeySource[]>>

/** The voice operations over one server that acts as every provider. */
export interface VoiceWorld {
  readonly upstream: AudioUpstream
  /** The calls that the ledger received, in order. */
  readonly calls: GatewayCall[]
  /** The amounts that admissions were settled with, in order. */
  readonly settled: (string | null)[]
  /** Replaces the available keys; those of a pool are called `<source>-key-<n>`. */
  keys(keys: Keys, pool?: PoolPolicy | null, keyLimits?: KeyLimits): void
  speak(body: BodyOf<'speech.speak'>, how?: How): Promise<BytesResult>
  transcribe(body: BodyOf<'transcriptions.transcribe'>, how?: How): Promise<Transcribed>
  /** Advances the clock, which otherwise only advances by `callMs` with each call. */
  later(ms: number): void
  close(): Promise<void>
}

/** The answer of a transcription in any format. */
interface Transcribed {
  readonly json?: Readonly<Record<string, unknown>>
  readonly text?: string
  readonly contentType?: string
  readonly headers: ReadonlyMap<string, string>
}

/** Options of a call in addition to its body. */
interface How {
  readonly signal?: AbortSignal
  readonly principal?: Principal
  readonly files?: readonly UploadedFile[]
  readonly keyed?: boolean
}

const key: Principal = { kind: 'secret_key', project: 'prj_1', keyId: 'key_1' }

/** A small WAV; the providers of tests do not read its audio. */
export const wavFile = (bytes = 2000, contentType = 'audio/wav', filename = 'talk.wav'): UploadedFile => ({
  field: 'file',
  filename,
  contentType,
  bytes: Buffer.alloc(bytes, 1),
})

/** @param options `redaction` and `admission` replace the defaults, which change and refuse nothing. */
export const openVoiceWorld = async (
  options: {
    policy?: Partial<CallPolicy>
    redaction?: Redaction['policyOf']
    admission?: Admission
    /** Advances the clock with every call; the default stays below the limit of requests. */
    callMs?: number
  } = {},
): Promise<VoiceWorld> => {
  const upstream = await openAudioUpstream()
  const guard = openSsrfGuard({ allowedPrivateHosts: ['127.0.0.1'] })
  const calls: GatewayCall[] = []
  const settled: (string | null)[] = []
  const routing = new TestRoutes(upstream.url)
  const begun = Date.now()
  let moved = 0
  const now = () => begun + moved
  const voice = openVoice({
    guard,
    limits: new LocalLimits({ steady: now }),
    now,
    routes: routing,
    admission: options.admission ?? { admit: () => ({ headers: [], settle: (usd) => void settled.push(usd) }) },
    ledger: { record: (call) => void calls.push(call), flush: () => Promise.resolve() },
    redaction: { policyOf: options.redaction ?? (() => null), forLog: (body) => body },
    policy: { backoffMs: 1, maxBackoffMs: 2, ...options.policy },
  })
  const useCases = noted(voiceUseCases(voice))
  const callOf = <Body>(body: Body, { signal, principal = key, files = [], keyed = false }: How) => {
    moved += options.callMs ?? 1200
    return {
      principal,
      scope: projectScope('prj_1'),
      params: {},
      query: {},
      body,
      requestId: 'req_1',
      remoteAddress: '127.0.0.1',
      idempotency: keyed ? { cause: 'c', fingerprint: 'f', seed: null } : null,
      after: null,
      accept: '',
      files,
      signal: signal ?? new AbortController().signal,
    }
  }
  return {
    upstream,
    calls,
    settled,
    keys: (keys, pool = null, keyLimits = undefined) => {
      Object.assign(routing, { keys, pool, keyLimits })
    },
    speak: (body, how = {}) => useCases['speech.speak'](callOf(body, how)),
    async transcribe(body, how = {}) {
      const call = callOf(body, { files: [wavFile()], ...how })
      const answer = await useCases['transcriptions.transcribe'](call)
      if ('json' in answer) return { json: { ...answer.json }, headers: new Map(answer.headers) }
      if (!('bytes' in answer)) throw new Error('no transcript is a stream of events')
      const { contentType, bytes, headers } = answer.bytes
      return { text: String(bytes), contentType, headers: new Map(headers) }
    },
    later: (ms) => {
      moved += ms
    },
    async close() {
      await voice.close()
      await guard.close()
      await upstream.close()
    },
  }
}

/** Every provider has a key for the one server, unless `keys` is set. */
class TestRoutes implements Routes {
  keys: Keys | null = null
  pool: PoolPolicy | null = null
  keyLimits: KeyLimits | undefined
  /** The same objects from call to call, since health is known of a route. */
  #pooled: readonly Route[] | null = null
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  resolve(_: string, model: string): readonly Route[] {
    const slash = model.indexOf('/')
    const spec = providers.find(({ id }) => id === model.slice(0, slash))
    if (spec === undefined) {
      if (!model.startsWith('custom:')) throw new ServiceError('model_not_found', { param: 'model' })
      return [this.#route({ id: model.slice(0, slash), format: 'openai' }, model.slice(slash + 1), 'custom')]
    }
    const sources = this.keys === null ? ['managed' as const] : (this.keys[spec.id] ?? [])
    if (sources.length === 0) throw new ServiceError('provider_not_configured', { param: 'model' })
    if (this.pool === null) return sources.map((source) => this.#route(spec, model.slice(slash + 1), source))
    const { keyLimits } = this
    const pool = this.pool
    const limited = (n: number) => (keyLimits === undefined ? {} : { keyLimits, connectionId: `pvc_${n}` })
    this.#pooled ??= sources.map((source, n) => {
      return { ...this.#route(spec, model.slice(slash + 1), source), pool, apiKey: `${source}-key-${n}`, ...limited(n) }
    })
    return this.#pooled
  }

  #route({ id, format }: Pick<(typeof providers)[number], 'id' | 'format'>, model: string, source: KeySource): Route {
    const apiKey = `${source}-key`
    return { model, provider: id, format, baseUrl: `${this.#url}/${id}`, apiKey, source, connectionId: null }
  }
}

/** A reader of a streamed answer. */
export interface Listener extends ByteSink {
  readonly parts: Buffer[]
  /** Resolves with the end of the answer. */
  readonly over: Promise<'end' | 'abort'>
  readonly control: StreamControl
  /** Accepts parts only one by one. */
  slow: boolean
}

/** Starts to read a streamed answer. */
export const listen = ({ bytes }: BytesResult, slow = false): Listener => {
  if (typeof bytes === 'string' || !('start' in bytes)) throw new Error('the answer is not streamed')
  const parts: Buffer[] = []
  let finish: (how: 'end' | 'abort') => void = () => {}
  const over = new Promise<'end' | 'abort'>((resolve) => {
    finish = resolve
  })
  const sink = {
    parts,
    over,
    slow,
    push(part: string | Uint8Array) {
      parts.push(Buffer.from(part))
      return !sink.slow
    },
    end: () => finish('end'),
    abort: () => finish('abort'),
  }
  return Object.assign(sink, { control: bytes.start(sink) })
}

/** The bytes of an answer without streaming. */
export const bytesOf = ({ bytes }: BytesResult): Buffer => {
  if (bytes instanceof Uint8Array) return Buffer.from(bytes)
  throw new Error('the answer is not whole')
}

/** The fields and files of a multipart body that a provider received. */
export const formIn = async (heard: { headers: Readonly<Record<string, unknown>>; body: Buffer }) => {
  const form = await new Response(new Uint8Array(heard.body), {
    headers: { 'content-type': String(heard.headers['content-type']) },
  }).formData()
  return Object.fromEntries([...form].map(([name, value]) => [name, value instanceof Blob ? value : String(value)]))
}
