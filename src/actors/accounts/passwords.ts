import { hash, verify } from '@node-rs/argon2'
import { ServiceError } from '#specs/errors/errors.ts'
import { FairSemaphore } from '#src/concurrency/fair-semaphore.ts'

/** Argon2id with 19 MiB, 2 passes, 1 lane: the OWASP baseline, about 20 ms of a worker thread. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const

/**
 * At most two of the process's four worker threads hash passwords, so that a flood of logins leaves threads for files
 * and DNS. Of one origin at most 16 attempts wait.
 */
const passwordTurns = { running: [2], waiting: [2048, 16] } as const

const turns = new FairSemaphore<string>({
  ...passwordTurns,
  path: (origin) => [origin],
  refusal: () => new ServiceError('rate_limit_exceeded', { retryAfterS: 1 }),
})

/** Returns the stored form of a password: a PHC string with its own salt. */
export const hashPassword = (password: string): Promise<string> => turns.run('members', () => hash(password, cost))

/** A password to verify, and the origin of the attempt. */
export interface PasswordAttempt {
  readonly password: string
  /** Attempts of one origin queue behind each other, and origins take turns. */
  readonly origin: string
}

/** Stored in place of a password's hash for a member that has none. */
export const noPassword = ''

/**
 * Whether `password` matches `stored`.
 * When `stored` is null (no such member) or `noPassword`, the same work is done on a decoy, so that the response time does not reveal
 * which e-mail addresses are known.
 *
 * @throws {ServiceError} `rate_limit_exceeded` when too many attempts of the same origin, or in total, are waiting.
 */
export const verifyPassword = async (
  stored: string | null,
  { password, origin }: PasswordAttempt,
): Promise<boolean> => {
  const matches = await turns.run(origin, () => verify(stored || decoy, password).catch(() => false))
  return Boolean(stored) && matches
}

/** A hash with the same cost, of 32 random bytes that were discarded. */
const decoy = '$argon2id$v=19$m=19456,t=2,p=1$O5oR9jrwFJ6Tc+D3yqTPoA$XUvK3tk/qfz5aomKbuuFn4/BDuGVVh0nLhS1Y3lDo6w'
