import { createHash, randomBytes } from 'node:crypto'
import type { Notice } from '#records/notices.ts'
import type { Row } from '#records/schema.ts'
import type { SecretBox } from '#records/secret-box.ts'
import { Table } from '#records/table.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { organizationScope, type RecordStore } from '#storage/index.ts'
import { factorAad, type MemberData, members, type SecondFactorData } from '../kinds.ts'
import { base32, stepOf } from './totp.ts'

/** Time in ms within which an offered key has to be confirmed. */
const offerMs = 10 * 60_000

const windowMs = 15 * 60_000
const maxFailures = 10
const recoveryCodeCount = 10

/** A member, by the organisation and its id. */
type MemberAt = Pick<Row<MemberData>, 'id' | 'project'>

/** Builds the audit entry of an action on a member. */
export type Noted = (done: string, changes?: readonly string[]) => Notice

/** What a code was found to be, and the row that follows from it; null: the row stays. */
interface Judged {
  readonly outcome: 'right' | 'wrong' | 'blocked' | 'none'
  readonly next: MemberData | null
}

/**
 * Second factors of members. Each attempt writes the member's row under its version. So of attempts in parallel, on any
 * node, one uses a code and each wrong one counts.
 */
export class SecondFactors {
  readonly #table: Table<MemberData>
  readonly #box: SecretBox
  readonly #now: () => number

  constructor({ records, box, now }: { records: RecordStore; box: SecretBox; now: () => number }) {
    this.#table = new Table(records, members, now)
    this.#box = box
    this.#now = now
  }

  /**
   * Offers a new key, which `confirm` puts into use.
   *
   * @throws {ServiceError} `invalid_transition` when a key is in use.
   */
  async offer({ id, project }: MemberAt): Promise<{ readonly key: Buffer; readonly until: number }> {
    const key = randomBytes(20)
    const until = this.#now() + offerMs
    const totp_offer = this.#box.seal(key.toString('base64'), factorAad(id, 'totp_offer'))
    await this.#table.change(organizationScope(project), id, {
      edit: ({ data }) => {
        if (data.totp_secret !== undefined) throw inUse()
        return { ...data, totp_offer, totp_offer_until_ms: until }
      },
    })
    return { key, until }
  }

  /**
   * Puts the offered key into use.
   *
   * @returns the recovery codes, of which only hashes are stored.
   * @throws {ServiceError} `invalid_transition` without an offer, `invalid_credentials` for a wrong code.
   */
  async confirm({ id, project }: MemberAt, code: string, noted: Noted): Promise<readonly string[]> {
    const codes = newCodes()
    await this.#table.change(organizationScope(project), id, {
      edit: ({ data }) => {
        if (data.totp_secret !== undefined) throw inUse()
        const { totp_offer: offered, totp_offer_until_ms: until = 0, ...rest } = data
        if (offered === undefined || until <= this.#now())
          throw new ServiceError('invalid_transition', {
            message: 'No second factor waits for its confirmation. Begin to set one up first.',
          })
        const key = this.#box.open(offered, factorAad(id, 'totp_offer'))
        const last_step = stepOf(Buffer.from(key, 'base64'), plain(code), this.#now())
        if (last_step === null) throw wrongCode()
        const totp_secret = this.#box.seal(key, factorAad(id, 'totp_secret'))
        const totp = {
          enabled_at_ms: this.#now(),
          last_step,
          recovery: hashesOf(id, codes),
          failures: 0,
          failed_since_ms: 0,
        }
        return { ...rest, totp_secret, totp }
      },
      notices: () => [noted('second_factor_enabled')],
    })
    return codes
  }

  /**
   * Uses a code once.
   *
   * @param change the change to make with it, in the same write.
   * @throws {ServiceError} `invalid_credentials` for a wrong or used code, `rate_limit_exceeded` after too many of them,
   * `invalid_transition` for a member without a second factor.
   */
  async use(
    { id, project }: MemberAt,
    code: string,
    {
      noted,
      done,
      change = (data) => data,
    }: { noted: Noted; done?: string; change?: (data: MemberData) => MemberData },
  ): Promise<void> {
    const found: { outcome: Judged['outcome'] } = { outcome: 'none' }
    await this.#table.change(organizationScope(project), id, {
      edit: ({ data }) => {
        const { outcome, next } = this.#judged(id, data, plain(code))
        found.outcome = outcome
        return outcome === 'right' && next !== null ? change(next) : next
      },
      notices: (next, before) => [
        ...noticesOf(noted, next.data.totp, before.data.totp),
        ...(found.outcome === 'right' && done !== undefined ? [noted(done)] : []),
      ],
    })
    if (found.outcome === 'blocked')
      throw new ServiceError('rate_limit_exceeded', {
        message: 'Too many wrong codes; try again later.',
        retryAfterS: windowMs / 1000,
      })
    if (found.outcome === 'none')
      throw new ServiceError('invalid_transition', { message: 'The member has no second factor.' })
    if (found.outcome === 'wrong') throw wrongCode()
  }

  /** Replaces the recovery codes. @throws {ServiceError} as `use` */
  async replaceCodes(member: MemberAt, code: string, noted: Noted): Promise<readonly string[]> {
    const codes = newCodes()
    const recovery = hashesOf(member.id, codes)
    await this.use(member, code, {
      noted,
      done: 'recovery_codes_replaced',
      change: (data) => (data.totp === undefined ? data : { ...data, totp: { ...data.totp, recovery } }),
    })
    return codes
  }

  #judged(id: string, data: MemberData, code: string): Judged {
    const { totp, totp_secret: sealed } = data
    if (totp === undefined || sealed === undefined) return { outcome: 'none', next: null }
    const now = this.#now()
    const isNewWindow = now - totp.failed_since_ms >= windowMs
    const failures = isNewWindow ? 0 : totp.failures
    if (failures >= maxFailures) return { outcome: 'blocked', next: null }
    const key = Buffer.from(this.#box.open(sealed, factorAad(id, 'totp_secret')), 'base64')
    const used = usedBy(totp, { code, hash: hashOf(id, code), step: stepOf(key, code, now) })
    if (used !== null) return { outcome: 'right', next: { ...data, totp: { ...used, failures: 0 } } }
    const failed_since_ms = isNewWindow ? now : totp.failed_since_ms
    return { outcome: 'wrong', next: { ...data, totp: { ...totp, failures: failures + 1, failed_since_ms } } }
  }
}

/** Returns a member's data without a second factor. */
export const withoutSecondFactor = ({
  totp: _state,
  totp_secret: _key,
  totp_offer: _offer,
  totp_offer_until_ms: _until,
  ...rest
}: MemberData): MemberData => rest

/** The state after a code was used; null for a code that is wrong or was used before. */
const usedBy = (
  totp: SecondFactorData,
  { hash, step }: { readonly code: string; readonly hash: string; readonly step: number | null },
): SecondFactorData | null => {
  if (step !== null) return step > totp.last_step ? { ...totp, last_step: step } : null
  const recovery = totp.recovery.filter((each) => each !== hash)
  return recovery.length < totp.recovery.length ? { ...totp, recovery } : null
}

const noticesOf = (
  noted: Noted,
  next: SecondFactorData | undefined,
  before: SecondFactorData | undefined,
): readonly Notice[] => {
  if (next === undefined || before === undefined) return []
  if (next.recovery.length < before.recovery.length) return [noted('recovery_code_used')]
  return next.failures === maxFailures ? [noted('second_factor_blocked')] : []
}

/** Codes of 80 random bits, for which a fast hash is enough. */
const newCodes = (): readonly string[] =>
  Array.from({ length: recoveryCodeCount }, () =>
    base32(randomBytes(10))
      .toLowerCase()
      .replaceAll(/(.{4})(?=.)/g, '$1-'),
  )

const hashesOf = (member: string, codes: readonly string[]): readonly string[] =>
  codes.map((code) => hashOf(member, plain(code)))

/** It does not depend on the master key, so that recovery codes outlive the key of the authenticator. */
const hashOf = (member: string, code: string): string =>
  createHash('sha256').update(`${member} ${code}`).digest('base64url')

/** A code as it is compared: people add spaces and dashes. */
const plain = (code: string): string => code.replaceAll(/[\s-]/g, '').toLowerCase()

const wrongCode = (): ServiceError =>
  new ServiceError('invalid_credentials', { param: 'code', message: 'The code is wrong, or was used before.' })

const inUse = (): ServiceError =>
  new ServiceError('invalid_transition', { message: 'A second factor is in use. Disable it first.' })
