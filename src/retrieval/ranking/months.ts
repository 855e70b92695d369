/** Names of the months in their order, in lower case and in each form that a date has; a `|` is between two forms. */
const names = [
  'january february march april may june july august september october november december',
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre',
  'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro',
  'janvier février mars avril mai juin juillet août septembre octobre novembre décembre',
  'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre',
  'januar februar märz april mai juni juli august september oktober november dezember',
  'januari februari maart april mei juni juli augustus september oktober november december',
  'ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık',
  'январь|января февраль|февраля март|марта апрель|апреля май|мая июнь|июня июль|июля август|августа сентябрь|сентября октябрь|октября ноябрь|ноября декабрь|декабря',
]

/**
 * The month that a word in lower case names, 0 to 11, in nine languages (specs/decisions/0217-first-search-after-a-start.md): the platform
 * knows their names too, but took a tenth of a first search to say them.
 */
export const monthNames: ReadonlyMap<string, number> = new Map(
  names.flatMap((ofLanguage) =>
    ofLanguage.split(' ').flatMap((forms, month) => forms.split('|').map((form) => [form, month] as const)),
  ),
)
