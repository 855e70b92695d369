import { hash, verify } from '@node-rs/argon2'
import { FairTurns } from './fair-turns.ts'

/** Argon2id with 19 MiB, 2 passes, 1 lane: the OWASP baseline, some 20 ms of a worker thread. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const

/** Two of the process's four worker threads, so that a flood of logins leaves some for files and names. */
const passwordTurns = { running: 2, perLane: 16, waiting: 2048 } as const

const turns = new FairTurns(passwordTurns)

/** The stored form of a password: a PHC string with its own salt. */
export const hashPassword = (password: string): Promise<string> => turns.run('members', () => hash(password, cost))

/** A password and who sent it. */
export interface PasswordAttempt {
  readonly password: string
  /** Attempts of one origin wait for each other, those of others take turns with them. */
  readonly origin: string
}

/**
 * Whether `password` is the one that `stored` was made from.
 *
 * With `stored` null (no such member) the same work is done in vain, so that the time of an answer does not show
 * which e-mail addresses are known.
 *
 * @throws {ServiceError} `rate_limit_exceeded` when too many of the same origin wait.
 */
export const verifyPassword = async (
  stored: string | null,
  { password, origin }: PasswordAttempt,
): Promise<boolean> => {
  const matches = await turns.run(origin, () => verify(stored ?? decoy, password).catch(() => false))
  return stored !== null && matches
}

/** Made at the same cost from 32 random bytes that were not kept. */
const decoy = '$argon2id$v=19$m=19456,t=2,p=1$O5oR9jrwFJ6Tc+D3yqTPoA$XUvK3tk/qfz5aomKbuuFn4/BDuGVVh0nLhS1Y3lDo6w'
