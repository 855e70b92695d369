import type { Page } from 'playwright'
import { isDoneWithin } from '../done-within.ts'
import type { PageInput } from './input-queue.ts'

/** A page that does not take an input by then is left alone with it, in ms: others wait meanwhile. */
const takenMs = 5_000

type Button = NonNullable<PageInput['button']>

/** A person's mouse and keyboard on a page. What they hold down is let go of in the end. */
export class Hands {
  readonly #page: Page
  readonly #keys = new Set<string>()
  readonly #buttons = new Set<Button>()

  constructor(page: Page) {
    this.#page = page
  }

  /** Does one thing. What the page or the browser does not take is left out: a person sees that. Never rejects. */
  async act(input: PageInput): Promise<void> {
    await isDoneWithin(takenMs, this.#do(input))
  }

  /** Lets go of what is held down. Never rejects. */
  async letGo(): Promise<void> {
    const { mouse, keyboard } = this.#page
    const held = [...this.#buttons].map((button) => mouse.up({ button }))
    await isDoneWithin(takenMs, Promise.all([...held, ...[...this.#keys].map((key) => keyboard.up(key))]))
  }

  async #do({ type, x = 0, y = 0, button = 'left', clicks = 1, deltaX = 0, deltaY = 0, ...more }: PageInput) {
    const { mouse, keyboard } = this.#page
    switch (type) {
      case 'mouseMove':
        return mouse.move(x, y)
      case 'mouseDown':
        await mouse.move(x, y)
        this.#buttons.add(button)
        return mouse.down({ button, clickCount: clicks })
      case 'mouseUp':
        await mouse.move(x, y)
        this.#buttons.delete(button)
        return mouse.up({ button, clickCount: clicks })
      case 'wheel':
        await mouse.move(x, y)
        return mouse.wheel(deltaX, deltaY)
      case 'keyDown':
        return this.#press(more.key ?? '')
      case 'keyUp':
        this.#keys.delete(more.key ?? '')
        return keyboard.up(more.key ?? '')
      case 'text':
        return keyboard.insertText(more.text ?? '')
    }
  }

  /** A letter that no key of an American keyboard has is typed as text. */
  async #press(key: string): Promise<void> {
    const { keyboard } = this.#page
    try {
      await keyboard.down(key)
      this.#keys.add(key)
    } catch (error) {
      if ([...key].length !== 1) throw error
      await keyboard.insertText(key)
    }
  }
}
