/** Characters after which a sentence without an end is said, at the end of a word. */
const longest = 240
/** Shorter sentences are said together with the next one: a pause after each would sound wrong. */
const shortest = 12

const ending = /[.!?…。！？](?:["')\]]*)(?:\s+|$)|\n+/g

/** Splits a text, as it is generated, into sentences to say. */
export class Sentences {
  #text = ''

  /** Adds to the text. @returns the sentences that are whole. */
  push(delta: string): readonly string[] {
    this.#text += delta
    const whole: string[] = []
    for (let at = this.#end(); at > 0; at = this.#end()) {
      whole.push(this.#text.slice(0, at))
      this.#text = this.#text.slice(at)
    }
    return whole
  }

  /** Returns the rest of the text; '' for none. */
  rest(): string {
    const rest = this.#text
    this.#text = ''
    return rest
  }

  /** The end of the first sentence; 0 when it is not whole. */
  #end(): number {
    ending.lastIndex = 0
    for (let found = ending.exec(this.#text); found !== null; found = ending.exec(this.#text)) {
      const end = found.index + found[0].length
      // a full stop at the end may be that of a number
      if (end === this.#text.length && !/\s$/.test(found[0])) return this.#tooLong()
      if (end >= shortest) return end
    }
    return this.#tooLong()
  }

  #tooLong(): number {
    return this.#text.length <= longest ? 0 : this.#text.lastIndexOf(' ', longest) + 1 || longest
  }
}
