import type { ClientToken, CredentialOptions } from './credential.ts'
import { isPage, page } from './page.ts'
import { asFields } from './schema.ts'

/** Time in ms that other tabs have to answer. */
const answerMs = 30

/**
 * Lets tabs of one origin share tokens: one of them fetches at a time, and shows the result to the others.
 *
 * @param user name of the signed-in user; tabs of another user have other tokens
 */
export const sharedTabs = (
  user: string,
  token: NonNullable<CredentialOptions['token']>,
): NonNullable<CredentialOptions['token']> => {
  if (!isPage()) return token
  const name = `troupe:${user}`
  const channel = new BroadcastChannel(name)
  /** The newest token of all tabs, and the one that this tab has had. */
  let newest: ClientToken | null = null
  let had = ''
  channel.onmessage = ({ data }: { readonly data: unknown }) => {
    const shown = tokenIn(data)
    if (shown === null) newest && channel.postMessage(newest)
    else if (newest === null || shown.expires_at > newest.expires_at) newest = shown
  }
  const fresh = (now: number): ClientToken | null =>
    newest !== null && newest.token !== had && Date.parse(newest.expires_at) > now ? newest : null
  const fetched = async (now: number): Promise<ClientToken> => {
    if (fresh(now) === null) {
      channel.postMessage(null)
      await new Promise((resolve) => setTimeout(resolve, answerMs))
    }
    const theirs = fresh(now)
    newest = theirs ?? (await token(now))
    if (theirs === null) channel.postMessage(newest)
    had = newest.token
    return newest
  }
  return (now) => page.navigator?.locks?.request(name, () => fetched(now)) ?? fetched(now)
}

const tokenIn = (data: unknown): ClientToken | null => {
  const { token, expires_at } = asFields(data)
  return typeof token === 'string' && typeof expires_at === 'string' ? { token, expires_at } : null
}
