import { writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { isFull } from '#telemetry/log-output.ts'
import type { Installation } from './bootstrap.ts'

/** The secrets of the first start could not be written; `message` is one sentence for the operator. */
export class SecretsNotShown extends Error {
  override readonly name = 'SecretsNotShown'
}

/** Pause before a full pipe is tried again, in ms. */
const retryMs = 50

/**
 * Prints the secrets that the first start generated, and resolves when all of the text is written.
 *
 * @throws {SecretsNotShown} when the output cannot be written; then the start fails, and the next one generates and
 * shows others.
 */
export const show = async ({ generated, ownerEmail }: Installation, fd = process.stdout.fd): Promise<void> => {
  if (generated === null) return
  const { secretKey, ownerPassword } = generated
  const lines = [
    'This is the first start. These secrets are shown once:',
    ...(secretKey === null ? [] : [`  secret key       ${secretKey}`]),
    `  dashboard owner  ${ownerEmail}`,
    ...(ownerPassword === null ? [] : [`  owner password   ${ownerPassword}`]),
  ]
  for (let left = Buffer.from(`${lines.join('\n')}\n`); left.length > 0; ) {
    const taken = written(fd, left, secretKey !== null || ownerPassword !== null)
    if (taken === 0) await delay(retryMs)
    left = left.subarray(taken)
  }
}

/** @returns the number of bytes written; all of them when the output is closed but the text contains no secrets. */
const written = (fd: number, bytes: Buffer, areSecret: boolean): number => {
  try {
    return writeSync(fd, bytes)
  } catch (cause) {
    if (isFull(cause)) return 0
    if (!areSecret) return bytes.length
    const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
    throw new SecretsNotShown(
      `The secrets of the first start cannot be written to the standard output${code}. Start again with an output that takes them, or set BOOTSTRAP_SECRET_KEY and BOOTSTRAP_OWNER_PASSWORD.`,
      { cause },
    )
  }
}
