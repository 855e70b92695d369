import { hash, verify } from '@node-rs/argon2'
import { ServiceError } from '#specs/errors/errors.ts'

/** Argon2id with 19 MiB, 2 passes, 1 lane: the OWASP baseline, some 20 ms of a worker thread. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const

/** Of the process's four worker threads, so that a flood of logins leaves some for files and names. */
const maxRunning = 2
const maxWaiting = 64

/** The stored form of a password: a PHC string with its own salt. */
export const hashPassword = (password: string): Promise<string> => inTurn(() => hash(password, cost))

/**
 * Whether `password` is the one that `stored` was made from.
 *
 * With `stored` null (no such member) the same work is done in vain, so that the time of an answer does not show
 * which e-mail addresses are known.
 *
 * @throws {ServiceError} `rate_limit_exceeded` when too many wait.
 */
export const verifyPassword = async (stored: string | null, password: string): Promise<boolean> => {
  const against = stored ?? (await decoy())
  const matches = await inTurn(() => verify(against, password).catch(() => false))
  return stored !== null && matches
}

let decoyHash: Promise<string> | null = null

const decoy = (): Promise<string> => {
  decoyHash ??= hash('nobody has this password', cost)
  return decoyHash
}

let running = 0
const waiting: (() => void)[] = []

const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
  if (running >= maxRunning) await turn()
  else running += 1
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }
}

/** Resolves with the place of one that has finished. */
const turn = (): Promise<void> => {
  if (waiting.length >= maxWaiting) throw new ServiceError('rate_limit_exceeded', { retryAfterS: 1 })
  return new Promise((resolve) => waiting.push(resolve))
}
