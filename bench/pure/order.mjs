/** Records in the order of a list: by the time of their last event, then by id. */

/** Below zero when `one` comes before `other`. */
const compare = (one, other) =>
  one.updateTime - other.updateTime ||
  (one.key.sessionId < other.key.sessionId ? -1 : Number(one.key.sessionId > other.key.sessionId));

/** The first place of a sorted list whose item does not come before a record. */
function search(items, record, recordOf) {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(recordOf(items[middle]), record) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

const MOST = 512;
const itself = (record) => record;
const lastOf = (bucket) => bucket.at(-1);

/** Sorted buckets, none of them empty. A record leaves before its time changes, and comes back after that. */
export class Order {
  #buckets = [];
  length = 0;

  add(record) {
    this.length += 1;
    const buckets = this.#buckets;
    const number = Math.min(search(buckets, record, lastOf), Math.max(0, buckets.length - 1));
    const bucket = (buckets[number] ??= []);
    bucket.splice(search(bucket, record, itself), 0, record);
    if (bucket.length > MOST) buckets.splice(number + 1, 0, bucket.splice(MOST / 2));
  }

  remove(record) {
    this.length -= 1;
    const number = search(this.#buckets, record, lastOf);
    const bucket = this.#buckets[number];
    bucket.splice(search(bucket, record, itself), 1);
    if (bucket.length === 0) this.#buckets.splice(number, 1);
  }

  /** The number of records before a record, and whether the record itself is in the order. */
  placeOf(record) {
    const number = search(this.#buckets, record, lastOf);
    let place = 0;
    for (let index = 0; index < number; index += 1) place += this.#buckets[index].length;
    const bucket = this.#buckets[number] ?? [];
    const within = search(bucket, record, itself);
    return { place: place + within, isHere: within < bucket.length && compare(bucket[within], record) === 0 };
  }

  /** The records from a place to another one. */
  slice(begin, end) {
    const records = [];
    let first = 0;
    for (const bucket of this.#buckets) {
      if (first >= end) break;
      if (first + bucket.length > begin) records.push(...bucket.slice(Math.max(0, begin - first), end - first));
      first += bucket.length;
    }
    return records;
  }
}
