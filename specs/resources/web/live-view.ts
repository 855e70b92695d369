import { array, described, integer, object, oneOf, optional, string, timestamp } from '#specs/dsl/schema.ts'
import { liveInput } from './browse-limits.ts'

const place = { min: 0, max: 4_096 } as const
const distance = { min: -10_000, max: 10_000 } as const

/** What a person does with a page. */
export const pageInput = object(
  {
    type: described(
      oneOf('mouseMove', 'mouseDown', 'mouseUp', 'wheel', 'keyDown', 'keyUp', 'text'),
      'What is done. `text` is typed or pasted where the focus is.',
    ),
    x: described(optional(integer(place)), 'From the left of the window in CSS pixels, for all of the mouse.'),
    y: described(optional(integer(place)), 'From its top.'),
    button: described(optional(oneOf('left', 'middle', 'right')), 'Of `mouseDown` and `mouseUp`. Default: `left`.'),
    clicks: described(optional(integer({ min: 1, max: 3 })), '2 for the second click of a double one.'),
    deltaX: described(optional(integer(distance)), 'How far `wheel` scrolls to the right, in CSS pixels.'),
    deltaY: described(optional(integer(distance)), 'How far `wheel` scrolls down.'),
    key: described(
      optional(string({ minLength: 1, maxLength: 32 })),
      'Key of `keyDown` and `keyUp` as KeyboardEvent.key names it, such as `a`, `Enter` or `Shift`.',
    ),
    text: described(optional(string({ minLength: 1, maxLength: liveInput.maxText })), 'Text of `text`.'),
  },
  { title: 'BrowserInput', description: 'What a person does with the page of a job.' },
)

/** Things that a person did, in order. */
export const pageInputs = array(pageInput, { minItems: 1, maxItems: liveInput.maxEvents })

/** Events of a live view. */
export const liveEvents = {
  frame: object(
    {
      image: string({ description: 'JPEG of the window in base64.' }),
      width: described(
        integer(),
        'Width of the window in CSS pixels, in which input is sent. The image may be smaller.',
      ),
      height: integer(),
      url: string({ description: 'Address of the page that the person uses.' }),
      taken_at: timestamp(),
    },
    { title: 'BrowserFrame', description: 'The page as it looks now. What a slow reader misses is left out.' },
  ),
  ended: object(
    { reason: oneOf('continued', 'ended') },
    { title: 'BrowserFramesEnded', description: 'The job goes on by itself, or has ended.' },
  ),
} as const
