// Numbers with their units, as people read them. Absent (null) is a dash, never zero.

export const NONE = "–";
// Between a number and its unit: a line does not end there.
const GAP = "\u00a0";

const STEPS = ["", "k", "M", "G", "T", "P"];

const absent = (value) => value === null || value === undefined || !Number.isFinite(value);

// Three digits at least of what is not whole.
function digits(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 || Number.isInteger(value) ? 0 : size >= 9.995 ? 1 : 2);
}

function scaled(value, base, names, unit) {
  if (absent(value)) {
    return NONE;
  }
  let step = 0;
  let left = value;
  while (Math.abs(left) >= base - 0.5 && step < names.length - 1) {
    left /= base;
    step += 1;
  }
  return `${digits(left)}${GAP}${names[step]}${unit}`.trim();
}

export const rate = (value) => scaled(value, 1000, STEPS, "B/s");
export const bytes = (value) => scaled(value, 1000, STEPS, "B");
export const hertz = (value) => scaled(value, 1000, STEPS, "Hz");
export const count = (value) => scaled(value, 1000, STEPS, "");

export function number(value, unit = "") {
  if (absent(value)) {
    return NONE;
  }
  return unit ? `${digits(value)}${GAP}${unit}` : digits(value);
}

export const whole = (value, unit) => (absent(value) ? NONE : `${Math.round(value)}${GAP}${unit}`);
export const share = (value) => (absent(value) ? NONE : `${Math.round(value * 100)}${GAP}%`);

// The same in a sentence of the agent's.
const UNITS = /(\d) (%|[kMGT]?B(\/s)?|ms|us|s|GPUs?|CPUs?|steps\/s)(?![\w/])/g;
export const together = (text) => text.replace(UNITS, `$1${GAP}$2`);

// "60 of 80 GB": powers of 1000, as in the sentences and in brim top
export function ofBytes(part, all) {
  if (absent(part) || absent(all)) {
    return bytes(part);
  }
  const [number1, unit1] = bytes(part).split(GAP);
  const [number2, unit2] = bytes(all).split(GAP);
  return unit1 === unit2 ? `${number1} of ${number2}${GAP}${unit2}` :
    `${number1}${GAP}${unit1} of ${number2}${GAP}${unit2}`;
}

export function seconds(value) {
  if (absent(value)) {
    return NONE;
  }
  if (value === 0) {
    return `0${GAP}s`;
  }
  if (value < 1e-3) {
    return `${digits(value * 1e6)}${GAP}µs`;
  }
  return value < 1 ? `${digits(value * 1e3)}${GAP}ms` : `${digits(value)}${GAP}s`;
}

const two = (value) => String(value).padStart(2, "0");

// A time of day here, of 24 hours.
export function clock(ms, withSeconds = true) {
  const day = new Date(ms);
  const minute = `${two(day.getHours())}:${two(day.getMinutes())}`;
  return withSeconds ? `${minute}:${two(day.getSeconds())}` : minute;
}

// "11-25 16:08", and the year where it is another.
export function day(ms) {
  const date = new Date(ms);
  const text = `${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock(ms, false)}`;
  return date.getFullYear() === new Date().getFullYear() ? text : `${date.getFullYear()}-${text}`;
}

// "38 s", "12 min", "30 h", "4 d": how long something took.
export function duration(s) {
  if (absent(s)) {
    return NONE;
  }
  if (s < 90) {
    return `${Math.round(s)}${GAP}s`;
  }
  if (s < 5400) {
    return `${Math.round(s / 60)}${GAP}min`;
  }
  return s < 129600 ? `${Math.round(s / 3600)}${GAP}h` : `${Math.round(s / 86400)}${GAP}d`;
}

// How long ago, for events and alerts.
export const ago = (now, then) =>
  `${duration(Math.max(0, Math.round((now - then) / 1000)))} ago`;
