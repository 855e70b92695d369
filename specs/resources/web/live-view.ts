import { array, described, integer, object, oneOf, optional, string, timestamp } from '#specs/dsl/schema.ts'
import { liveInput } from './browse-limits.ts'

const place = { min: 0, max: 4_096 } as const
const distance = { min: -10_000, max: 10_000 } as const

/** An input event of a person on a page. */
const pageInput = object(
  {
    type: described(
      oneOf('mouseMove', 'mouseDown', 'mouseUp', 'wheel', 'keyDown', 'keyUp', 'text'),
      'Type of the event. `text` is entered into the focused element.',
    ),
    x: described(
      optional(integer(place)),
      'Distance from the left edge of the window in CSS pixels, for all mouse events.',
    ),
    y: described(optional(integer(place)), 'Distance from the top edge of the window in CSS pixels.'),
    button: described(
      optional(oneOf('left', 'middle', 'right')),
      'Mouse button of `mouseDown` and `mouseUp`. Default: `left`.',
    ),
    clicks: described(optional(integer({ min: 1, max: 3 })), 'Click count: 2 for the second click of a double click.'),
    deltaX: described(optional(integer(distance)), 'How far `wheel` scrolls to the right, in CSS pixels.'),
    deltaY: described(optional(integer(distance)), 'How far `wheel` scrolls down, in CSS pixels.'),
    key: described(
      optional(string({ minLength: 1, maxLength: 32 })),
      'Key of `keyDown` and `keyUp` as KeyboardEvent.key names it, such as `a`, `Enter` or `Shift`.',
    ),
    text: described(optional(string({ minLength: 1, maxLength: liveInput.maxText })), 'Text of `text`.'),
  },
  { title: 'BrowserInput', description: 'An input event for the page of a job.' },
)

/** Input events of a person, in order. */
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
      url: string({ description: 'URL of the page that the person is using.' }),
      taken_at: timestamp(),
    },
    { title: 'BrowserFrame', description: 'The page as it looks now. Frames are dropped for a slow reader.' },
  ),
  ended: object(
    { reason: oneOf('continued', 'ended') },
    { title: 'BrowserFramesEnded', description: 'The job has resumed or ended.' },
  ),
} as const
