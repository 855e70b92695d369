import type { Held, TokenShare } from './credential.ts'
import { isPage, page } from './page.ts'

/** Time in ms that other tabs have to answer. */
const answerMs = 30

/**
 * Lets tabs of one origin share tokens: one of them fetches at a time, and shows the result to the others.
 *
 * @param user name of the signed-in user; tabs of another user have other tokens
 */
export const sharedTabs = (user: string): TokenShare | undefined => (isPage() ? new Tabs(`troupe:${user}`) : undefined)

class Tabs implements TokenShare {
  onToken: (held: Held) => void = () => {}
  readonly #name: string
  readonly #channel: InstanceType<typeof BroadcastChannel>
  #shown: Held | null = null

  constructor(name: string) {
    this.#name = name
    this.#channel = new BroadcastChannel(name)
    this.#channel.onmessage = ({ data }: { readonly data: unknown }) => {
      const held = heldIn(data)
      if (held !== null) {
        this.#shown = held
        this.onToken(held)
      } else if (this.#shown !== null) this.#channel.postMessage(this.#shown)
    }
  }

  show(held: Held): void {
    this.#shown = held
    this.#channel.postMessage(held)
  }

  alone<T>(work: (others: (old: Held | null) => Promise<void>) => Promise<T>): Promise<T> {
    const others = async (old: Held | null): Promise<void> => {
      if (this.#shown?.token !== old?.token) return
      this.#channel.postMessage(null)
      await new Promise((resolve) => setTimeout(resolve, answerMs))
    }
    const locks = page.navigator?.locks
    return locks === undefined ? work(others) : locks.request(this.#name, () => work(others))
  }
}

const heldIn = (data: unknown): Held | null => {
  const { token, renewAt, endsAt } = Object(data)
  return typeof token === 'string' ? { token, renewAt, endsAt } : null
}
