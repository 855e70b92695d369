import { countOrNull } from '#gateway/call/accounting/counted.ts'
import type { Route } from '#gateway/call/routes.ts'
import { arrayOf, isObject, objectOf, parseJson, textOf } from '#outgoing/wire.ts'
import { notATranscript } from '../openai/openai-voice.ts'
import { containerTypes } from '../voice/multipart.ts'
import { speakerOf, timedTexts } from '../voice/timed-text.ts'
import type { SpeechTask, Transcript, TranscriptionTask, VoiceFormat, VoiceRequest } from '../voice/voice-format.ts'
import { GeminiAudio, geminiTokens } from './gemini-audio.ts'
import { googleHeaders } from './google-format.ts'

/**
 * Gemini's `generateContent`: speech is returned as PCM in base64; audio to transcribe is sent inline, with a schema
 * for the transcript.
 */
export const googleVoice: VoiceFormat = {
  speech: { request: speechRequest, reader: (task) => new GeminiAudio(task) },
  transcription: { request: transcriptionRequest, transcript },
}

const headersOf = (route: Route) => ({ ...googleHeaders(route), 'content-type': 'application/json' })

const pathOf = ({ model }: Route, method: string): string => `/models/${encodeURIComponent(model)}:${method}`

function speechRequest(task: SpeechTask, route: Route): VoiceRequest {
  const body = {
    contents: [{ role: 'user', parts: [{ text: task.text }] }],
    generationConfig: {
      responseModalities: ['AUDIO'],
      speechConfig: {
        voiceConfig: { prebuiltVoiceConfig: { voiceName: task.voice } },
        ...(task.language !== null && { languageCode: task.language }),
      },
      ...(task.temperature !== null && { temperature: task.temperature }),
    },
  }
  const method = task.streamed ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return { path: pathOf(route, method), headers: headersOf(route), body: JSON.stringify(body) }
}

const segment = {
  type: 'OBJECT',
  properties: {
    start: { type: 'NUMBER', description: 'Seconds from the beginning of the audio.' },
    end: { type: 'NUMBER', description: 'Seconds from the beginning of the audio.' },
    speaker: { type: 'STRING', description: 'speaker_0, speaker_1 … in the order in which they first speak.' },
    text: { type: 'STRING' },
  },
  required: ['start', 'end', 'speaker', 'text'],
  propertyOrdering: ['start', 'end', 'speaker', 'text'],
} as const

const answerSchema = {
  type: 'OBJECT',
  properties: {
    language: { type: 'STRING', description: 'ISO 639-1 code of the language that is spoken.' },
    segments: { type: 'ARRAY', items: segment },
  },
  required: ['language', 'segments'],
} as const

function transcriptionRequest(task: TranscriptionTask, route: Route): VoiceRequest {
  const { bytes, container, language, prompt } = task
  const instructions = [
    'Transcribe the speech in this audio word for word, in the language that is spoken. One segment a sentence.',
    ...(language === null ? [] : [`The language is ${language}.`]),
    ...(prompt === null ? [] : [`These words may help: ${prompt}`]),
  ]
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  const body = {
    contents: [
      {
        role: 'user',
        parts: [{ text: instructions.join('\n') }, { inlineData: { mimeType: containerTypes[container], data } }],
      },
    ],
    generationConfig: {
      temperature: task.temperature ?? 0,
      responseMimeType: 'application/json',
      responseSchema: answerSchema,
    },
  }
  return { path: pathOf(route, 'generateContent'), headers: headersOf(route), body: JSON.stringify(body) }
}

function transcript(json: unknown, task: TranscriptionTask): Transcript {
  const candidate = objectOf(arrayOf(objectOf(json).candidates)[0])
  const parts = arrayOf(objectOf(candidate.content).parts)
  const parsed = parseJson(parts.map((part) => textOf(objectOf(part).text)).join(''))
  if (!isObject(parsed) || !Array.isArray(parsed.segments)) throw notATranscript()
  const segments = timedTexts(parsed.segments, (item) => ({
    text: textOf(item.text),
    speaker: task.diarize ? speakerOf(item.speaker) : null,
  }))
  const { usageMetadata } = objectOf(json)
  const language = textOf(parsed.language)
  return {
    text: segments.map(({ text }) => text).join(' '),
    language: language === '' ? task.language : language,
    seconds: audioSeconds(objectOf(usageMetadata).promptTokensDetails),
    tokens: geminiTokens(usageMetadata),
    segments,
    words: [],
  }
}

/** Tokens that Gemini counts per second of audio. The length of the audio is derived from them. */
const tokensPerSecond = 32

const audioSeconds = (details: unknown): number | null => {
  const audio = arrayOf(details).find((detail) => objectOf(detail).modality === 'AUDIO')
  const tokens = countOrNull(objectOf(audio).tokenCount)
  return tokens === null ? null : tokens / tokensPerSecond
}
