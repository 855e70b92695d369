import type { Admission, KeyGrant, KeyRequest, Ticket } from '#gateway/call/admission.ts'
import { keysUsedUp } from '#gateway/call/pools/key-limits.ts'

/** Permission of the key of a session; null for one without limits. */
export const keyOf = async ({ admitKey }: Admission, request: KeyRequest): Promise<KeyGrant | null> =>
  request.route.keyLimits === undefined || admitKey === undefined ? null : admitKey(request)

/**
 * Gets permission for a response, also that of the key of its session, which no other key can replace.
 *
 * @throws {ServiceError} `rate_limit_exceeded` when the key is at its limits, and what `admit` throws
 */
export const withKey = (
  admission: Admission,
  request: KeyRequest,
  admit: () => Ticket | Promise<Ticket>,
): Ticket | Promise<Ticket> => (request.route.keyLimits === undefined ? admit() : both(admission, request, admit))

const both = async (
  admission: Admission,
  request: KeyRequest,
  admit: () => Ticket | Promise<Ticket>,
): Promise<Ticket> => {
  const key = await keyOf(admission, request)
  if (key === null) return admit()
  if ('waitS' in key) throw keysUsedUp(key.waitS)
  try {
    const ticket = await admit()
    const settle: Ticket['settle'] = (usd, tokens) => {
      ticket.settle(usd, tokens)
      key.settle(tokens)
    }
    return { ...ticket, settle }
  } catch (error) {
    key.giveBack()
    throw error
  }
}
