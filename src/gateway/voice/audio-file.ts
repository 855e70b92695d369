import type { UploadedFile } from '#actors/call/call.ts'
import { type AudioContainer, audioContainers, maxAudioBytes } from '#specs/audio.ts'
import { mimeTypeOf } from '#src/pages/mime-type.ts'
import { unsupportedValue } from './speech-task.ts'

/** A validated file to transcribe. */
export interface AudioFile {
  readonly bytes: Uint8Array
  readonly container: AudioContainer
}

/** MIME types that browsers and recorders send, without their parameters. */
const types: Readonly<Record<string, AudioContainer>> = {
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/mpga': 'mp3',
  'audio/x-mp3': 'mp3',
  'audio/x-mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/wave': 'wav',
  'audio/x-wav': 'wav',
  'audio/vnd.wave': 'wav',
  'audio/webm': 'webm',
  'video/webm': 'webm',
  'audio/mp4': 'mp4',
  'video/mp4': 'mp4',
  'audio/m4a': 'm4a',
  'audio/x-m4a': 'm4a',
  'audio/ogg': 'ogg',
  'audio/opus': 'ogg',
  'application/ogg': 'ogg',
  'video/ogg': 'ogg',
  'audio/flac': 'flac',
  'audio/x-flac': 'flac',
}

const endings: Readonly<Record<string, AudioContainer>> = {
  ...Object.fromEntries(audioContainers.map((container) => [container, container])),
  mpga: 'mp3',
  mpeg: 'mp3',
  oga: 'ogg',
  opus: 'ogg',
}

/**
 * Validates the file of a form. Its type is taken from the MIME type, then from the file extension
 * (`transcriptions.transcribe`). Browser recorders often report a wrong container, so the one detected from the bytes
 * takes precedence.
 *
 * @throws {ServiceError} `bad_request` with `param: file` when the file is missing, empty, too large, or of an
 * unsupported type.
 */
export const audioFile = (files: readonly UploadedFile[], maxBytes = maxAudioBytes): AudioFile => {
  const file = files.find(({ field }) => field === 'file')
  if (file === undefined) throw unsupportedValue('file', 'The form requires an audio file in the field file.')
  if (file.bytes.length === 0) throw unsupportedValue('file', 'The audio file is empty.')
  checkSize(file.bytes.length, maxBytes)
  const type = mimeTypeOf(file.contentType)?.essence ?? ''
  const ending = /\.([A-Za-z0-9]+)$/.exec(file.filename)?.[1]?.toLowerCase() ?? ''
  const container = own(types, type) ?? own(endings, ending)
  if (container === undefined) throw unsupportedValue('file', `The file must be one of ${audioContainers.join(', ')}.`)
  return { bytes: file.bytes, container: containerIn(file.bytes) ?? container }
}

/** @throws {ServiceError} `bad_request` with `param: file` */
export const checkSize = (bytes: number, maxBytes: number): void => {
  if (bytes <= maxBytes) return
  throw unsupportedValue('file', `The file has ${bytes} bytes; the limit is ${maxBytes}.`)
}

const marks: readonly (readonly [container: AudioContainer, at: number, bytes: string])[] = [
  ['wav', 8, 'WAVE'],
  ['ogg', 0, 'OggS'],
  ['flac', 0, 'fLaC'],
  ['webm', 0, '\x1a\x45\xdf\xa3'],
  ['m4a', 4, 'ftypM4A'],
  ['mp4', 4, 'ftyp'],
  ['mp3', 0, 'ID3'],
]

/** Detects the container from the first bytes; null when they are not conclusive. */
const containerIn = (bytes: Uint8Array): AudioContainer | null => {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 16)).toString('latin1')
  return marks.find(([, at, mark]) => head.startsWith(mark, at))?.[0] ?? null
}

const own = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined
