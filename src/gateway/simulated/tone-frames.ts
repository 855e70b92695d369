/** Sample rate of simulated speech, in Hz. */
export const toneRate = 24_000

/** Samples per frame (24 ms). */
export const frameSamples = 576

const frameBytes = 96

/*
 * One stationary frame each of silence and of four tones of 6, 8, 10 and 12 waves: MPEG-2 layer III, 32 kbit/s, mono,
 * without a bit reservoir, so that any sequence of frames is a valid MP3. Encoded from sines with ffmpeg and LAME;
 * trailing zeros are omitted.
 */
const silence = '//NExAAAAANIAAAA'
const tones = [
  '//NExAAFiDoYAAXqBMI9lQMHkPCJOBkx///+r/////////UmIKaimZcYmBgA==',
  '//NExAAFQC4YAAX8IIR6+AYSwFgZArg7//////////2/7UxBTUUzLjEwMAAA==',
  '//NExAAFuC4YAAe+IPLAvJXScWOscrLHf9v/////////+z/YmIKaimZcYmBgAA==',
  '//NExAAF6DoYAAUuAMIqwYGMeEet8GGY/7//////////////WmIKaimZcYmBgAAA',
]

const whole = (data: string): Buffer => {
  const frame = Buffer.alloc(frameBytes)
  Buffer.from(data, 'base64').copy(frame)
  return frame
}

/** An MP3 frame of silence. */
export const silentFrame = whole(silence)

/** An MP3 frame of each tone. */
export const toneFrames: readonly Buffer[] = tones.map(whole)

/** Waves per frame of each tone. */
export const wavesOfTones: readonly number[] = [6, 8, 10, 12]
