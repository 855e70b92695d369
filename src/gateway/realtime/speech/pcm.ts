/** Bytes of a second of audio: 16-bit samples at 24 kHz, mono. */
export const bytesOfSecond = 48_000

/** Length of audio in ms. */
export const msOf = (bytes: number): number => Math.round((bytes / bytesOfSecond) * 1000)

/** Bytes of audio of a length in ms, in whole samples. */
export const bytesOf = (ms: number): number => Math.round((ms * bytesOfSecond) / 2000) * 2
