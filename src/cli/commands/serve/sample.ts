/** The sample data of `serve --sample`: two collections, the same on every machine, enough to see three pages. */

/** Items are JSON. */
export function sampleCollections() {
  const json = (items: readonly object[]) => items.map((item) => JSON.stringify(item))
  return [
    { name: 'events', keyField: 'id', isPaginated: true, items: json(events()) },
    { name: 'venues', keyField: 'id', isPaginated: false, items: json(VENUES) },
  ]
}

const EVENT_COUNT = 1234

const VENUES = [
  { id: 'alte-muehle', name: 'Alte Mühle', city: 'Freiburg', seats: 140, opened: 1887 },
  { id: 'bluebird-room', name: 'The Bluebird Room', city: 'Bristol', seats: 220, opened: 1971 },
  { id: 'casa-verde', name: 'Casa Verde', city: 'Valencia', seats: 310, opened: 2004 },
  { id: 'dockside-hall', name: 'Dockside Hall', city: 'Rotterdam', seats: 1200, opened: 1998 },
  { id: 'forum-nord', name: 'Forum Nord', city: 'Malmö', seats: 860, opened: 2011 },
  { id: 'grand-rex-annex', name: 'Grand Rex Annex', city: 'Lyon', seats: 430, opened: 1932 },
  { id: 'harbour-stage', name: 'Harbour Stage', city: 'Galway', seats: 95, opened: 2016 },
  { id: 'kino-luna', name: 'Kino Luna', city: 'Kraków', seats: 180, opened: 1958 },
  { id: 'meridian-house', name: 'Meridian House', city: 'Porto', seats: 650, opened: 1924 },
  { id: 'old-brewery', name: 'The Old Brewery', city: 'Leeds', seats: 275, opened: 1989 },
  { id: 'salle-des-arts', name: 'Salle des Arts', city: 'Liège', seats: 510, opened: 1966 },
  { id: 'teatro-sereno', name: 'Teatro Sereno', city: 'Bologna', seats: 740, opened: 1905 },
] as const

const KINDS = ['Concert', 'Lecture', 'Film night', 'Workshop', 'Reading', 'Open stage', 'Dance'] as const
const THEMES = [
  'Northern Lights',
  'Paper and Ink',
  'Rivers',
  'Small Machines',
  'The Long Winter',
  'Salt',
  'Borrowed Songs',
  'Night Trains',
  'Gardens',
  'Maps',
  'First Drafts',
] as const

const HOSTS = ['Ines Moreau', 'Tom Achterberg', 'Zofia Lis', 'Aoife Byrne', 'Marco Bellini'] as const
const HOURS = ['18:00', '19:30', '20:00', '20:30', '16:00', '11:00'] as const

/** One event a day from here on. */
const FIRST_DAY = Date.UTC(2026, 0, 9)
const DAY_MS = 24 * 60 * 60 * 1000

// The steps have no divisor in common with the lengths of the lists, so that all of each list is used.
function events(): object[] {
  return Array.from({ length: EVENT_COUNT }, (_, index) => {
    const venue = pick(VENUES, index * 5)
    const day = new Date(FIRST_DAY + index * DAY_MS).toISOString().slice(0, 10)
    return {
      id: index + 1,
      title: `${pick(KINDS, index)}: ${pick(THEMES, index * 3)}`,
      starts: `${day}T${pick(HOURS, index * 7)}:00Z`,
      host: pick(HOSTS, index * 2),
      venue: venue.id,
      price_eur: 5 + ((index * 7) % 56) / 2,
      seats_left: (index * 37) % venue.seats,
    }
  })
}

function pick<T>(list: readonly T[], index: number): T {
  const value = list[index % list.length]
  if (value === undefined) throw new RangeError('a list of the sample is empty')
  return value
}
