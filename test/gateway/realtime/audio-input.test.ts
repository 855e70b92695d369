import { describe, expect, it } from 'vitest'
import { AudioInput } from '#gateway/realtime/audio-input.ts'
import { Conversation } from '#gateway/realtime/conversation/conversation.ts'
import { usualConfig } from '#gateway/realtime/conversation/session-config.ts'
import { bytesOf, msOf } from '#gateway/realtime/speech/pcm.ts'
import { Voices } from '#gateway/realtime/speech/voices.ts'
import { callerOf } from '../ledger/calls.ts'

const sound = (ms: number, loudness: number): Buffer => {
  const samples = Buffer.alloc(bytesOf(ms))
  for (let at = 0; at < samples.length; at += 2)
    samples.writeInt16LE(Math.round(Math.sin(at / 20) * loudness * 32_767), at)
  return samples
}

const commit = (input: AudioInput): void => {
  input.append(sound(200, 0.5).toString('base64'), usualConfig)
  input.commit(usualConfig)
}

const open = (before: () => Promise<void> = async () => {}) => {
  const heard: number[] = []
  const events: string[] = []
  const samples: Buffer[] = []
  const transcription = {
    transcribe: async ({ request }: { readonly request: { readonly file: { readonly bytes: Uint8Array } } }) => {
      const audio = Buffer.from(request.file.bytes).subarray(44)
      await before()
      samples.push(audio)
      heard.push(msOf(audio.length))
      return { json: { text: 'heard' }, headers: [] }
    },
  }
  const speech = { speak: () => Promise.reject(new Error('nothing is said')) }
  const input = new AudioInput({
    voices: new Voices({ speech, transcription }, callerOf(), null),
    conversation: new Conversation(),
    send: (event) => void events.push(JSON.parse(event).type.replace('input_audio_buffer.', '')),
    signal: new AbortController().signal,
    started: () => {},
    stopped: () => {},
    spent: () => {},
  })
  return { input, heard, events, samples }
}

describe('the audio of a client', () => {
  it('is heard from the beginning of speech, though the session is updated while the user speaks', async () => {
    const { input, heard, events } = open()
    input.append(sound(2_000, 0.2).toString('base64'), usualConfig)
    const updated = usualConfig.with({ instructions: 'Be short.' })
    input.append(sound(1_000, 0.2).toString('base64'), updated)
    input.append(sound(600, 0).toString('base64'), updated)
    await input.heard()
    expect(events.filter((type) => /^speech|^committed/.test(type))).toEqual([
      'speech_started',
      'speech_stopped',
      'committed',
    ])
    expect(heard[0]).toBeGreaterThan(3_000)
  })

  it('may be cut anywhere, also within a sample', async () => {
    const { input, samples } = open()
    const silent = usualConfig.with({ audio: { input: { turn_detection: null } } })
    const audio = sound(400, 0.2)
    for (let at = 0; at < audio.length; at += 333) input.append(audio.subarray(at, at + 333).toString('base64'), silent)
    input.commit(silent)
    await input.heard()
    expect(Buffer.concat(samples).equals(audio)).toBe(true)
  })

  it('is transcribed in at most four parts at a time: the client waits before it sends more', async () => {
    const gates: (() => void)[] = []
    const { input } = open(() => new Promise((go) => gates.push(go)))
    for (let part = 0; part < 3; part++) commit(input)
    expect(input.free()).toBeUndefined()
    commit(input)
    const free = input.free()
    expect(free).toBeInstanceOf(Promise)
    gates[0]?.()
    await free
    expect(input.free()).toBeUndefined()
  })
})
