import type { ServerResponse } from 'node:http'
import { isObject, parseJson, textOf } from '#outgoing/wire.ts'
import { audioLength } from '../voice/audio-length.ts'
import { fieldOf, formOf } from './form-of.ts'
import { says } from './phrases.ts'
import { sendError, sendJson, sendRefusal } from './respond.ts'
import { speechOf } from './speech.ts'
import { heardIn } from './transcription.ts'

/** Path prefix of OpenAI's audio endpoints. */
export const audioPath = '/v1/audio/'

/** A request to one of the audio paths. */
export interface AudioRequest {
  readonly path: string
  readonly contentType: string
  readonly body: Buffer
}

/**
 * Serves `/v1/audio/speech`, `/v1/audio/transcriptions` and `/v1/audio/translations`; the last two give the same
 * English text.
 */
export const serveAudio = async (
  { path, contentType, body }: AudioRequest,
  response: ServerResponse,
): Promise<void> => {
  if (path === `${audioPath}speech`) speak(body, response)
  else if (path === `${audioPath}transcriptions` || path === `${audioPath}translations`)
    await transcribe(contentType, body, response)
  else sendError(response, 404, 'not_found')
}

const isSimulated = (model: string): boolean => model.startsWith('simulated')

function speak(body: Buffer, response: ServerResponse): void {
  const request = parseJson(body.toString('utf8'))
  if (!isObject(request) || textOf(request.input) === '') {
    sendError(response, 400, 'invalid_input')
    return
  }
  const input = textOf(request.input)
  const speed = typeof request.speed === 'number' ? request.speed : 1
  const speech = speechOf(input, textOf(request.response_format) || 'mp3', speed)
  if (!isSimulated(textOf(request.model))) sendError(response, 404, 'model_not_found')
  else if (speech === null) sendError(response, 400, 'unsupported_format')
  else if (says(input, 'fail please')) sendError(response, 500, 'server_error')
  else if (says(input, 'rate limit please'))
    sendRefusal(response, { status: 429, code: 'rate_limit_exceeded', retryAfterS: 1 })
  else {
    response.writeHead(200, { 'content-type': speech.contentType })
    const cut = says(input, 'cut please')
    sendParts(response, speech.audio, { slow: says(input, 'slow please'), cut })
  }
}

const parts = 10
const slowPartMs = 200

/** Sends audio in chunks, like a provider that is still generating it; on request slowly, or only in part. */
function sendParts(response: ServerResponse, audio: Buffer, { slow, cut }: { slow: boolean; cut: boolean }): void {
  const size = Math.ceil(audio.length / parts)
  let at = 0
  const next = (): void => {
    if (response.destroyed) return
    if (cut && at > audio.length / 2) {
      response.destroy()
      return
    }
    response.write(audio.subarray(at, at + size))
    at += size
    if (at >= audio.length) response.end()
    else if (slow) setTimeout(next, slowPartMs)
    else setImmediate(next)
  }
  next()
}

async function transcribe(contentType: string, body: Buffer, response: ServerResponse): Promise<void> {
  const form = await formOf(contentType, body)
  const file = form?.files.find(({ field }) => field === 'file')
  if (file === undefined) {
    sendError(response, 400, 'missing_file')
    return
  }
  if (!isSimulated(fieldOf(form, 'model'))) {
    sendError(response, 404, 'model_not_found')
    return
  }
  const seconds = await audioLength(file.bytes, file.contentType)
  if (seconds === null) sendError(response, 400, 'invalid_file')
  else sendJson(response, 200, answerOf(file.bytes, seconds, fieldOf(form, 'response_format') || 'json'))
}

function answerOf(audio: Uint8Array, seconds: number, form: string): object {
  const heard = heardIn(audio, seconds)
  const usage = { type: 'duration', seconds: Math.ceil(seconds) }
  const whole = { text: heard.text, task: 'transcribe', language: 'en', duration: seconds, usage }
  if (form === 'diarized_json') return { ...whole, segments: heard.segments }
  if (form !== 'verbose_json') return { text: heard.text, usage }
  const segments = heard.segments.map(({ start, end, text }, id) => ({ id, start, end, text }))
  return { ...whole, segments, words: heard.words.map(({ start, end, text }) => ({ word: text, start, end })) }
}
