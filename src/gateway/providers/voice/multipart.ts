import type { AudioContainer } from '#specs/audio.ts'
import { type FilledForm, filledForm } from '../multipart.ts'

/** Content types that providers accept for each container. */
export const containerTypes: Readonly<Record<AudioContainer, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  webm: 'audio/webm',
  mp4: 'audio/mp4',
  m4a: 'audio/mp4',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
}

/** Encodes a form with one audio file. */
export const audioForm = (
  fields: readonly (readonly [name: string, value: string])[],
  { container, ...file }: { readonly field: string; readonly container: AudioContainer; readonly bytes: Uint8Array },
): FilledForm => filledForm(fields, [{ ...file, ending: container, type: containerTypes[container] }])
