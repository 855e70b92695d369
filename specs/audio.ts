/** Output formats of speech (`speech.speak`). */
export const audioFormats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const

/** One of `audioFormats`. `pcm` is 16 bits, little endian, one channel, 24 kHz, without a header. */
export type AudioFormat = (typeof audioFormats)[number]

/** Content type of each format. */
export const audioTypes: Readonly<Record<AudioFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}

/** Maximum number of code points of a text to speak. A model may have a lower limit. */
export const maxSpeechChars = 4096

/** Containers of audio files for transcription. */
export const audioContainers = ['mp3', 'wav', 'webm', 'mp4', 'm4a', 'ogg', 'flac'] as const

/** One of `audioContainers`. */
export type AudioContainer = (typeof audioContainers)[number]

/** Formats of a transcript. `diarized_json` requires a model that separates speakers. */
export const transcriptForms = ['json', 'text', 'srt', 'vtt', 'verbose_json', 'diarized_json'] as const

/** One of `transcriptForms`. */
export type TranscriptForm = (typeof transcriptForms)[number]

/** Largest file to transcribe: 25 MB. */
export const maxAudioBytes = 25 * 1024 * 1024
