// Line icons, 20 by 20.

const icon = (inner: string): string =>
  `<svg viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${inner}</svg>`;

export const ICONS = {
  play: icon('<path d="M6.5 4.2v11.6l9-5.8z" fill="currentColor"/>'),
  pause: icon('<path d="M7 4.5v11M13 4.5v11" stroke-width="3"/>'),
  step: icon('<path d="M5 4.7v10.6l7.2-5.3z" fill="currentColor"/><path d="M15 4.5v11" stroke-width="2.2"/>'),
  reset: icon('<path d="M4 4.5v4h4"/><path d="M4.4 8.3a6.2 6.2 0 1 1-.6 3.2"/>'),
  fit: icon('<path d="M3.5 7.5v-4h4M12.5 3.5h4v4M16.5 12.5v4h-4M7.5 16.5h-4v-4"/>'),
  plots: icon('<path d="M3 16.5h14M3.5 12l3.5-5 3.5 3.5L14 5l3 3"/>'),
  controls: icon('<path d="M3 6h7M14 6h3M3 14h3M10 14h7"/><circle cx="12" cy="6" r="2"/><circle cx="8" cy="14" r="2"/>'),
  actors: icon('<circle cx="10" cy="4.6" r="2.1"/><path d="M10 7v5M4.6 8.2c3 1.5 7.800 1.5 10.800 0M7 17l3-5 3 5"/>'),
  edit: icon('<path d="M3 15c3-9 6 3 9-6"/><path d="M12.2 9 15.4 4.4l1.9 1.3-3.2 4.6-2.3.7z"/>'),
  scenes: icon('<rect x="3" y="3.5" width="6" height="5.5" rx="1.2"/><rect x="11" y="3.5" width="6" height="5.5" rx="1.2"/><rect x="3" y="11" width="6" height="5.5" rx="1.2"/><rect x="11" y="11" width="6" height="5.5" rx="1.2"/>'),
  help: icon('<circle cx="10" cy="10" r="7.2"/><path d="M7.9 7.8a2.2 2.2 0 1 1 3.2 2c-.8.4-1.1.9-1.1 1.6"/><path d="M10 14.1v.1" stroke-width="2.2"/>'),
  experiments: icon('<path d="M8 3.5v5L4 15.2a.9.9 0 0 0 .8 1.3h10.4a.9.9 0 0 0 .8-1.3L12 8.5v-5M6.8 3.5h6.4M6 12.5h8"/>'),
  close: icon('<path d="M5 5l10 10M15 5 5 15"/>'),
  bin: icon('<path d="M4 6h12M8 6V4h4v2M5.5 6l.8 10.5h7.4L14.5 6M8.5 9v5M11.5 9v5"/>'),
  pull: icon('<path d="M3 16.5 8 12"/><circle cx="9.5" cy="10.5" r="2"/><path d="M11 9l5.5-5.5M12.5 3.5h4v4"/>'),
  press: icon('<path d="M3 16.5h14"/><path d="M10 3.5v7"/><circle cx="10" cy="13" r="2.2"/>'),
  whole: icon('<path d="M3 10h14M6 7l-3 3 3 3M14 7l3 3-3 3"/>'),
};
