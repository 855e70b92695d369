import type { Page } from 'playwright'
import { isDoneWithin } from '../done-within.ts'
import type { PageInput } from './input-queue.ts'

/** Time in ms after which an input that the page has not handled is abandoned, since other inputs wait for it. */
const takenMs = 5_000

type Button = NonNullable<PageInput['button']>

/** Mouse and keyboard of a person on a page. Keys and buttons that are still pressed are released at the end. */
export class PersonInput {
  readonly #page: Page
  readonly #keys = new Set<string>()
  readonly #buttons = new Set<Button>()

  constructor(page: Page) {
    this.#page = page
  }

  /** Performs one input. An input that the page or browser does not accept is dropped. Never rejects. */
  async act(input: PageInput): Promise<void> {
    await isDoneWithin(takenMs, this.#do(input))
  }

  /** Releases all pressed keys and buttons. Never rejects. */
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

  /** Presses a key. A character without a key on a US keyboard is inserted as text. */
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
