import type { Admission, KeyRequest, Ticket } from '#gateway/call/admission.ts'
import { keysUsedUp } from '#gateway/call/pools/key-limits.ts'

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
  const key = await admission.admitKey?.(request)
  if (key === undefined) return admit()
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
