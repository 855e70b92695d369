/**
 * Words of which an ASCII text must contain at least one for `amends` or `statementKindOf` to match. Most texts contain none,
 * so the slower patterns can be skipped.
 */
export const marking: ReadonlySet<string> = new Set(
  `now longer more anymore instead days recently lately actually correction schedule scheduled reschedule rescheduled postponed delayed
  update updated upgraded adjusted revised amended changed switched replaced moved shifted extended shortened increase increased raised
  decrease decreased reduced lowered dropped cut improved grown pushed brought turns up down new
  when whenever if time anytime prefer like love rather avoid hate stand preference favorite favourite`.split(/\s+/),
)
