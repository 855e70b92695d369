/** A text without invisible characters, and whether they were used to hide something. */
export interface ShownText {
  readonly text: string
  /** Whether there was a hidden message, or direction overrides that display other words than are written. */
  readonly hides: boolean
}

/** Invisible letters of the tag block. After a black flag they name a region ("flag of Wales"). */
const tag = /[\u{E0000}-\u{E007F}]/u
const regionFlags = /\u{1F3F4}[\u{E0020}-\u{E007E}]{1,8}\u{E007F}/gu
const override = /[\u202D\u202E]/u
const hiddenOrFlag =
  /\u{1F3F4}[\u{E0020}-\u{E007E}]{1,8}\u{E007F}|[\u{E0000}-\u{E007F}]|\u034F|[\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFEFF\uFFF9-\uFFFB]/gu
const controls = /[^\P{Cc}\t\n\r]/gu

/** Joiners outside of emoji and the scripts that need them; there they only hide something. */
const loneJoiners =
  /(?<!\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F|\p{M}|\p{Script=Arabic}|\p{Script=Devanagari}|\p{Script=Bengali}|\p{Script=Tamil}|\p{Script=Malayalam}|\p{Script=Sinhala}|\p{Script=Telugu}|\p{Script=Kannada}|\p{Script=Gujarati})(?:\u200C|\u200D){1,64}/gu

/** Runs of variation selectors, which can encode bytes; a single one selects a glyph variant. */
const selectors = /[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]{2,}/gu
const longSelectors = /[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]{4}/u

/** Runs of characters without width, which can encode bits; scripts and emoji need one or two at a time. */
const longUnseen = /[\u200B-\u200D\u2060-\u2064\uFEFF]{8}/u

/** Removes hidden characters. */
export const withoutHidden = (text: string): ShownText => {
  const hides =
    [override, longSelectors, longUnseen].some((mark) => mark.test(text)) || tag.test(text.replace(regionFlags, ''))
  const shown = text
    .replace(hiddenOrFlag, (found) => (found.startsWith('\u{1F3F4}') ? found : ''))
    .replace(selectors, '')
    .replace(loneJoiners, '')
    .replace(controls, '')
  return { text: shown.normalize('NFC'), hides }
}
