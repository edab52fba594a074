"""Plan, run and record: a campaign is a folder that can always be continued."""
